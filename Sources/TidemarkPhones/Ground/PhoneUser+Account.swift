package import ExampleKit
import Foundation
import TidemarkApp

extension PhoneUser {
    /// Makes the account, as on another device.
    ///
    /// - Parameters:
    ///   - accounts: `HOST:PORT`.
    ///   - secrets: A folder of its own for what that device keeps.
    /// - Returns: The account's id.
    package func signUp(at accounts: String, secrets: String) async throws -> String {
        let desk = Accounts(
            HTTPAccountsTransport(.local(accounts)),
            store: try FileCredentialStore(folder: secrets), installation: "desk")
        await desk.load()
        return try await desk.signUp(email: email, password: password).text
    }
}
