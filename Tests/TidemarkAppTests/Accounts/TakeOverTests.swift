import Foundation
import Synchronization
import Testing
import Tidemark

@testable import TidemarkApp

struct `A session of another library` {
    private let server = ScriptedAccounts()
    private let folder = TestFolder()

    private func accounts() throws -> Accounts {
        Accounts(server, store: try FileCredentialStore(folder: folder.path, key: nil))
    }

    /// Returns the data that FirebaseAuth keeps of a session: the user's id and the refresh token.
    private func session() async throws -> (UserID, String) {
        let other = Accounts(
            server, store: try FileCredentialStore(folder: folder.path + "/other", key: nil))
        let user = try await other.signUp(email: "ada@b.c", password: "correct horse")
        return (user, try #require(other.held.withLock { $0.session?.refreshToken }))
    }

    @Test func `is taken over without a server, and its first call asks for a token`() async throws
    {
        let (user, token) = try await session()
        let accounts = try accounts()
        let before = server.requests.count
        #expect(try await accounts.takeOver(user, refreshToken: token))
        #expect(accounts.state == .signedIn(user))
        #expect(server.requests.count == before, "the person is signed in offline too")
        #expect(try await accounts.token() != nil)
        #expect(server.requests.count == before + 1)
    }

    @Test func `is there after the next launch`() async throws {
        let (user, token) = try await session()
        _ = try await accounts().takeOver(user, refreshToken: token)
        let next = try accounts()
        #expect(await next.load() == .signedIn(user))
        #expect(try await next.takeOver(user, refreshToken: "old") == false)
        #expect(try await next.token() != nil)
    }

    @Test func `of somebody else does not end the one that is here`() async throws {
        let (user, _) = try await session()
        let accounts = try accounts()
        try await accounts.signUp(email: "bob@b.c", password: "correct horse")
        let bob = accounts.user
        #expect(try await accounts.takeOver(user, refreshToken: "x") == false)
        #expect(accounts.user == bob)
    }

    @Test func `does not come back after a sign-out`() async throws {
        let (user, token) = try await session()
        let accounts = try accounts()
        try await accounts.takeOver(user, refreshToken: token)
        try await accounts.signOut()
        #expect(try await accounts.takeOver(user, refreshToken: token) == false)
        #expect(accounts.user == nil)
    }

    @Test func `that the server takes no more is over`() async throws {
        let (user, token) = try await session()
        let accounts = try accounts()
        try await accounts.takeOver(user, refreshToken: token)
        server.refuse("token", "TOKEN_EXPIRED")
        await #expect(throws: RPCStatus.self) { try await accounts.token() }
        #expect(accounts.state == .signedOut(.expired))
    }
}
