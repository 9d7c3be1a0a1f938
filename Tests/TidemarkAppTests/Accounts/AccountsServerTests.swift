import Foundation
import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// Tests accounts against the real servers over HTTP.
struct `Accounts over HTTP` {
    private let folder = TestFolder()

    private func device(
        _ server: LocalAccounts, _ folder: String
    ) throws -> (Accounts, LaunchFiles) {
        let files = try LaunchFiles(folder: folder)
        let accounts = Accounts(
            HTTPAccountsTransport(.local(server.host)),
            store: try FileCredentialStore(folder: folder + "/secrets", key: nil),
            installation: files.installation)
        return (accounts, files)
    }

    @Test(.timeLimit(.minutes(2))) func `sign up, in by each way, link and renew`() async throws {
        let server = try await LocalAccounts.start()
        let (accounts, _) = try device(server, folder.path)
        let user = try await accounts.signUp(email: "a@b.c", password: "secret")
        #expect(try await accounts.details().email == "a@b.c")
        let token = try await accounts.token()
        #expect(try await accounts.token(replacing: token) != nil)
        try await accounts.signOut()
        await #expect(throws: AccountError.wrongCredentials) {
            try await accounts.signIn(email: "a@b.c", password: "another")
        }
        await #expect(throws: AccountError.addressTaken) {
            try await accounts.signUp(email: "a@b.c", password: "secret")
        }
        #expect(try await accounts.signIn(email: "a@b.c", password: "secret") == user)
        try await accounts.signOut()
        let nobody = try await accounts.signInAnonymously()
        try await accounts.link(email: "d@e.f", password: "secret")
        #expect(try await accounts.signIn(email: "d@e.f", password: "secret") == nobody)
        let apple = ProviderCredential(
            provider: "apple.com", idToken: #"{"sub": "s1", "email": "x@y.z"}"#)
        let other = try await accounts.signIn(with: apple)
        #expect(other != nobody)
        #expect(try await accounts.signIn(with: apple) == other)
        try await accounts.revokeApple(authorizationCode: "code")
        let custom = try await accounts.signIn(customToken: #"{"uid": "chosen", "claims": {}}"#)
        #expect(custom == UserID("chosen"))
        try await accounts.deleteAccount()
        #expect(accounts.state == .signedOut(.removed))
        await server.stop()
    }

    @Test(.timeLimit(.minutes(2))) func `sign in with a key that is restricted to the app`()
        async throws
    {
        var settings = AccountsSettings()
        settings.iosBundleID = "com.example.app"
        let server = try await LocalAccounts.start(settings, beside: nil)
        func accounts(_ bundleID: String?) -> Accounts {
            Accounts(
                HTTPAccountsTransport(.local(server.host, bundleID: bundleID)),
                store: ScriptedStore())
        }
        for other in [nil, "com.example.other"] {
            let name = other ?? "<empty>"
            let refusal = AccountError.keyRefused(
                "Requests from this iOS client application \(name) are blocked.")
            await #expect(throws: refusal) { try await accounts(other).signInAnonymously() }
        }
        let own = accounts("com.example.app")
        try await own.signUp(email: "a@b.c", password: "secret")
        // The other service, which renews tokens, demands the identifier too.
        let token = try await own.token()
        #expect(try await own.token(replacing: token) != nil)
        await server.stop()
    }

    @Test func `send the bundle identifier of GoogleService-Info.plist`() throws {
        let entries = [
            "PROJECT_ID": "my-app", "API_KEY": "key", "GOOGLE_APP_ID": "1:2:ios:3",
            "BUNDLE_ID": "com.example.app",
        ]
        let file = try PropertyListSerialization.data(
            fromPropertyList: entries, format: .xml, options: 0)
        let settings = StackSettings(folder: folder.path, try GoogleServiceInfo(file))
        guard case .accounts(let endpoint) = settings.identity else {
            Issue.record("another identity")
            return
        }
        #expect(endpoint == .cloud(key: "key", bundleID: "com.example.app"))
    }

    @Test(.timeLimit(.minutes(2))) func `make an account with its profile, and delete both`()
        async throws
    {
        let local = try LocalFirestore.start()
        let server = try await LocalAccounts.start(beside: local)
        let (accounts, files) = try device(server, folder.path)
        let firestore = try local.firestore()
        let jobs = AccountJobs(accounts, profiles: FirestoreProfiles(firestore), files: files)
        try await jobs.signUp(
            .password(email: "a@b.c", "secret"), profile: ["name": .string("Ada")])
        var news = jobs.news.makeAsyncIterator()
        guard case .finished(let user)? = await news.next() else {
            Issue.record("the sign-up did not finish")
            return
        }
        let profile = try await firestore.document("users/" + user.text).getDocument(
            source: .server)
        #expect(profile["name"] as? String == "Ada")
        await jobs.deleteAccount()
        #expect(await news.next() == .removed)
        let gone = try await firestore.document("users/" + user.text).getDocument(source: .server)
        #expect(!gone.exists)
        await #expect(throws: AccountError.wrongCredentials) {
            try await accounts.signIn(email: "a@b.c", password: "secret")
        }
        #expect(try files.record() == nil && files.known.completeProfile == nil)
        await server.stop()
        await local.stop()
    }

    @Test(.timeLimit(.minutes(2))) func `say that nobody answers`() async throws {
        let server = try await LocalAccounts.start()
        let (accounts, _) = try device(server, folder.path)
        await server.stop()
        do {
            try await accounts.signUp(email: "a@b.c", password: "secret")
            Issue.record("there is nobody to answer")
        } catch { #expect(error.recovery == .waitForNetwork) }
    }
}
