import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkResilience

@testable import TidemarkApp

struct `A nonce for Apple` {
    /// The expected hash is the output of `printf … | sha256sum`.
    @Test func `is hashed as the accounts server hashes it`() {
        let nonce = AppleNonce([0, 1, 0xAB, 0xFF])
        #expect(nonce.text == "0001abff")
        #expect(
            nonce.hashed
                == "46beb5fcf7c40e875ec95f3028fdf0ca48fba24917427af2d1fa6e5e2ceaab38")
    }

    @Test func `is another one each time`() {
        let texts = Set((0..<100).map { _ in AppleNonce().text })
        #expect(texts.count == 100)
        #expect(texts.allSatisfy { $0.count == 64 })
    }
}

/// Tests how a session that began with Apple reacts to the system's answers.
@Suite(.timeLimit(.minutes(2))) struct `A session of Apple's` {
    private final class System: AppleCredentials {
        private let known = Mutex<[String: AppleCredentialState]>([:])
        private let asked = Mutex<[String]>([])
        let revocations: AsyncStream<Void>
        let revoke: AsyncStream<Void>.Continuation

        init() { (revocations, revoke) = AsyncStream.makeStream() }

        func set(_ user: String, _ state: AppleCredentialState?) {
            known.withLock { $0[user] = state }
        }
        var questions: [String] { asked.withLock { $0 } }
        func state(of user: String) async -> AppleCredentialState? {
            asked.withLock { $0.append(user) }
            return known.withLock { $0[user] }
        }
    }

    private let server = ScriptedAccounts()
    private let store = ScriptedStore()
    private let system = System()
    private let accounts: Accounts

    init() { accounts = Accounts(server, store: store) }

    private func token(_ user: String, nonce: String = "") -> String {
        let claims = Data(#"{"sub":"\#(user)","nonce":"\#(nonce)"}"#.utf8).base64EncodedString()
        let text = claims.replacingOccurrences(of: "=", with: "")
        return "head.\(text).signature"
    }

    private func identity(_ user: String, code: String? = "code") throws -> AppleIdentity {
        let nonce = AppleNonce()
        return try AppleIdentity(
            AppleAnswer(
                user: user, identityToken: Data(token(user, nonce: nonce.hashed).utf8),
                authorizationCode: code.map { Data($0.utf8) }, givenName: "Ada"),
            nonce)
    }

    private func apple(_ user: String) -> ProviderCredential {
        ProviderCredential(provider: "apple.com", idToken: token(user))
    }

    @Test(arguments: [AppleCredentialState.revoked, .notFound])
    func `ends when the person takes it back`(state: AppleCredentialState) async throws {
        let user = try await accounts.signIn(with: apple("001.ada"))
        var changes = accounts.changes.makeAsyncIterator()
        system.set("001.ada", .authorized)
        #expect(await !accounts.checkApple(system))
        system.set("001.ada", state)
        #expect(await accounts.checkApple(system))
        #expect(accounts.state == .signedOut(.revoked))
        #expect(await changes.next() == .signedOut(.revoked))
        #expect(try store.read(.session) == nil)
        #expect(await !accounts.checkApple(system), "nobody is signed in")
        #expect(server.accounts == 1, "the account stays")
        #expect(try await accounts.signIn(with: apple("001.ada")) == user)
    }

    @Test(arguments: [AppleCredentialState.authorized, .transferred, nil])
    func `stays when nothing was taken back`(state: AppleCredentialState?) async throws {
        let user = try await accounts.signIn(with: apple("001.ada"))
        system.set("001.ada", state)
        #expect(await !accounts.checkApple(system))
        #expect(accounts.state == .signedIn(user))
    }

    @Test func `is known by the next launch, and of others nothing is asked`() async throws {
        let user = try await accounts.signUp(email: "a@b.c", password: "secret")
        #expect(await !accounts.checkApple(system))
        try await accounts.signOut()
        try await accounts.signIn(
            with: ProviderCredential(provider: "google.com", idToken: token("g")))
        #expect(await !accounts.checkApple(system))
        #expect(system.questions.isEmpty)
        let ada = try await accounts.signIn(with: apple("001.ada"))
        #expect(ada != user)
        _ = try await accounts.token(replacing: try await accounts.token())
        let next = Accounts(server, store: store)
        await next.load()
        system.set("001.ada", .revoked)
        #expect(await next.checkApple(system))
        #expect(system.questions == ["001.ada"])
    }

    /// The stored session has the format of an older version.
    @Test func `of an older version of the app is none of Apple's`() async throws {
        struct Old: Encodable {
            let user, idToken, refreshToken, installation: String
            let expires: Int64
            let isOfSignUp: Bool
        }
        let old = Old(
            user: "u1", idToken: "id-u1-1", refreshToken: "refresh-u1-1", installation: "",
            expires: .max, isOfSignUp: false)
        try store.write(.session, [UInt8](JSONEncoder().encode(old)))
        #expect(await accounts.load() == .signedIn(UserID("u1")!))
        #expect(await !accounts.checkApple(system))
    }

    @Test func `begun by a sign-up is Apple's too`() async throws {
        let folder = TestFolder()
        let files = try LaunchFiles(folder: folder.path)
        let jobs = AccountJobs(accounts, profiles: NoProfiles(), files: files, probe: nil) { _ in }
        let identity = try self.identity("001.ada")
        try await jobs.signIn(
            .provider(identity.credential),
            profile: ["name": .string(identity.givenName ?? "")])
        var news = jobs.news.makeAsyncIterator()
        guard case .signedIn? = await news.next() else { return #expect(Bool(false)) }
        #expect(try jobs.draft() == ["name": .string("Ada")], "Apple tells it once")
        try await jobs.keep(step: 3)
        // The token has expired, and the user signs in with Apple again.
        try await jobs.signIn(.provider(apple("001.ada")))
        guard case .signedIn? = await news.next() else { return #expect(Bool(false)) }
        #expect(try jobs.draft() == ["name": .string("Ada")])
        #expect(try jobs.unfinished()?.step == 3)
        system.set("001.ada", .revoked)
        #expect(await accounts.checkApple(system))
    }

    @Test func `is taken back at Apple before its account is deleted`() async throws {
        let folder = TestFolder()
        let files = try LaunchFiles(folder: folder.path)
        let jobs = AccountJobs(accounts, profiles: NoProfiles(), files: files, probe: nil) { _ in }
        let ada = try self.identity("001.ada")
        let eve = try self.identity("002.eve")
        try await accounts.signIn(with: ada.credential)
        await #expect(throws: AccountError.wrongCredentials) {
            try await jobs.deleteAccount(confirmedBy: eve)
        }
        #expect(server.revoked.isEmpty)
        try await accounts.revokeApple(authorizationCode: "first")
        #expect(server.revoked == [["apple.com", "CODE", "first"]])
        server.refuse("accounts:revokeToken", "INVALID_IDP_RESPONSE")
        await #expect(throws: AccountError.providerRefused("")) {
            try await jobs.deleteAccount(confirmedBy: ada)
        }
        #expect(try files.record() == nil, "nothing is deleted that Apple was not told of")
        server.refuse("accounts:revokeToken", nil)
        let identity = ada
        try await jobs.deleteAccount(confirmedBy: identity)
        #expect(server.revoked.last == ["apple.com", "CODE", "code"])
        #expect(try files.record()?.phase == .deleting(accounts.user!))
    }

    @Test func `has an identity only of its own request`() throws {
        let nonce = AppleNonce()
        let good = Data(token("001.ada", nonce: nonce.hashed).utf8)
        for answer in [
            AppleAnswer(user: "001.ada"),
            AppleAnswer(user: "001.ada", identityToken: Data("no token".utf8)),
            AppleAnswer(user: "002.eve", identityToken: good),
            AppleAnswer(user: "001.ada", identityToken: Data(token("001.ada").utf8)),
            AppleAnswer(
                user: "001.ada", identityToken: Data(token("001.ada", nonce: nonce.text).utf8)),
        ] {
            #expect(throws: AppleSignInError.invalidAnswer) { try AppleIdentity(answer, nonce) }
        }
        let identity = try AppleIdentity(
            AppleAnswer(user: "001.ada", identityToken: good), nonce)
        #expect(identity.credential.nonce == nonce.text)
    }

    private struct NoProfiles: ProfileStore {
        func create(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileAnswer {
            .unreachable
        }
        func compare(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileComparison {
            .unreachable
        }
        func remove(_ user: UserID, onlyID: String?) async -> RemovalAnswer { .unreachable }
        func look(for user: UserID) async -> ProfileReading { .unavailable }
    }
}
