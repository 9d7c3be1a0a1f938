package import ExampleKit
import Foundation
import TidemarkApp

extension PhoneUser {
    /// Creates the account, as if on another device.
    ///
    /// - Parameters:
    ///   - accounts: The address `HOST:PORT` of the accounts server.
    ///   - secrets: A folder for that device's credentials.
    /// - Returns: The account's id.
    package func signUp(at accounts: String, secrets: String) async throws -> String {
        let desk = Accounts(
            HTTPAccountsTransport(.local(accounts)),
            store: try FileCredentialStore(folder: secrets), installation: "desk")
        await desk.load()
        return try await desk.signUp(email: email, password: password).text
    }
}
