import Foundation
import Testing

@testable import TidemarkApp

/// The id of a user is the last part of a profile's path, so it must not lead to another document.
struct `The id of a user` {
    @Test(arguments: [
        "", ".", "..", "a/b", "../admin/secrets", "/", "ann/", "__all__", "____",
        String(repeating: "x", count: 129), String(repeating: "é", count: 65),
    ])
    func `is no way to another document`(text: String) throws {
        #expect(UserID(text) == nil)
        // A changed file must not contain such an id either.
        let json = try JSONEncoder().encode(text)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(UserID.self, from: json) }
    }

    @Test(arguments: ["a", "..a", "_x_", "%2e%2e", "a b", "é", String(repeating: "x", count: 128)])
    func `may look like one`(text: String) { #expect(UserID(text)?.text == text) }

    @Test func `is told from another by its bytes`() {
        #expect(UserID("e\u{301}") != UserID("\u{e9}"))
    }

    /// A server, or an attacker in its place, answers with an id that is a path. The sign-in fails.
    @Test func `is not taken from a token that names a path`() async throws {
        struct Impostor: AccountsTransport {
            func send(
                _ request: AccountsRequest
            ) async throws(AccountsUnreachable) -> AccountsReply {
                let body = #"{"localId": "../admin", "idToken": "a.b.c", "refreshToken": "r"}"#
                return AccountsReply(status: 200, body: Array(body.utf8))
            }
        }
        let store = ScriptedStore()
        let accounts = Accounts(Impostor(), store: store)
        await #expect(throws: AccountError.self) {
            try await accounts.signIn(email: "a@b.c", password: "secret")
        }
        #expect(try store.read(.session) == nil)
    }
}
