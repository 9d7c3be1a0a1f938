import Foundation
import Testing
import Tidemark

@testable import TidemarkApp

// The examples of the articles for an app that has FirebaseAuth.

/// FirebaseAuth's instance and its user, as far as the articles use them.
private struct Auth: Sendable {
    struct User: Sendable {
        let uid: String
        let refreshToken: String?

        func getIDToken(forcingRefresh isForced: Bool) async throws -> String {
            isForced ? "another token" : "a token"
        }
    }

    let currentUser: User?

    static func auth() -> Auth {
        Auth(currentUser: User(uid: "ada", refreshToken: "kept by FirebaseAuth"))
    }
}

@Suite(.timeLimit(.minutes(1))) struct `The examples of the articles on FirebaseAuth` {
    @Test func `on its tokens`() async throws {
        // The project of all tests that configure one, and a database of this test alone.
        Firestore.configure(projectID: "parity")
        let firestore = Firestore.firestore(database: "kept-auth")
        let settings = FirestoreSettings()
        settings.cache = .memory
        settings.tokenProvider = IDTokens { refused in
            try await Auth.auth().currentUser?.getIDToken(forcingRefresh: refused != nil)
        }
        firestore.settings = settings
        let tokens = try #require(firestore.settings.tokenProvider)
        #expect(try await tokens.token() == "a token")
        await firestore.terminate()
    }

    @Test func `on its session`() async throws {
        let folder = TestFolder()
        let accounts = Accounts(
            ScriptedAccounts(), store: try FileCredentialStore(folder: folder.path, key: nil))
        if let kept = Auth.auth().currentUser, let token = kept.refreshToken,
            let user = UserID(kept.uid)
        {
            try await accounts.takeOver(user, refreshToken: token)
        }
        #expect(accounts.user?.text == "ada")
    }
}
