import Foundation
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkResilience

@testable import TidemarkApp

struct `Accounts on a device` {
    private let server = ScriptedAccounts()
    private let store = ScriptedStore()
    private let time = TestTime()
    private let accounts: Accounts

    final class TestTime: Sendable {
        private let seconds = Mutex<Int64>(1_700_000_000)
        var now: Int64 { seconds.withLock { $0 } }
        func advance(_ by: Int64) { seconds.withLock { $0 += by } }
    }

    init() {
        accounts = Self.device(server, store, time)
    }

    private static func device(
        _ server: ScriptedAccounts, _ store: ScriptedStore, _ time: TestTime,
        installation: String = "here"
    ) -> Accounts {
        var retry = Accounts.refreshPolicy
        // An attempt's time limit uses real time: on a busy machine it ended before the attempt was
        // made.
        (retry.delayScale, retry.attemptTimeout) = (0, nil)
        return Accounts(
            server, store: store, installation: installation, retry: Retry(retry),
            now: { time.now })
    }

    @Test func `are kept over a launch, and a token goes with each call`() async throws {
        #expect(accounts.state == .unknown)
        #expect(await accounts.load() == .signedOut)
        #expect(try await accounts.token() == nil)
        let user = try await accounts.signUp(email: "a@b.c", password: "secret")
        #expect(accounts.state == .signedIn(user))
        let token = try await accounts.token()
        #expect(token == "id-u1-1")
        let next = Self.device(server, store, time)
        #expect(await next.load() == .signedIn(user))
        #expect(try await next.token() == token && server.requests == ["accounts:signUp"])
    }

    @Test func `that cannot be read are neither there nor gone`() async throws {
        let user = try await accounts.signUp(email: "a@b.c", password: "secret")
        store.fail(.locked)
        let next = Self.device(server, store, time)
        #expect(await next.load() == .locked && next.state == .locked)
        store.fail(.failed("broken"))
        #expect(await next.load() == .failed)
        store.fail(nil)
        #expect(await next.load() == .signedIn(user))
    }

    @Test func `of an installation that is gone are not used`() async throws {
        try await accounts.signUp(email: "a@b.c", password: "secret")
        let other = Self.device(server, store, time, installation: "anew")
        #expect(await other.load() == .signedOut)
    }

    @Test func `renew a token before it runs out, once for all who ask`() async throws {
        try await accounts.signUp(email: "a@b.c", password: "secret")
        time.advance(3_590)
        server.hold()
        async let tokens = withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { [accounts] in try? await accounts.token() } }
            var all: Set<String?> = []
            for await token in group { all.insert(token) }
            return all
        }
        try await until("a token is asked for") { server.requests.contains("token") }
        server.release()
        #expect(await tokens == ["id-u1-2"])
        #expect(server.requests.filter { $0 == "token" }.count == 1)
    }

    @Test func `use a token that still holds while it is renewed`() async throws {
        try await accounts.signUp(email: "a@b.c", password: "secret")
        time.advance(3_400)
        server.fail("token", .neverSent, .neverSent, .neverSent, .neverSent)
        #expect(try await accounts.token() == "id-u1-1")
    }

    @Test func `renew a token that was refused, and not one that is newer`() async throws {
        try await accounts.signUp(email: "a@b.c", password: "secret")
        #expect(try await accounts.token(replacing: "id-u1-1") == "id-u1-2")
        #expect(try await accounts.token(replacing: "id-u1-1") == "id-u1-2")
        #expect(server.requests.filter { $0 == "token" }.count == 1)
    }

    @Test func `try a refresh again, and end a session only by the server's word`() async throws {
        let user = try await accounts.signUp(email: "a@b.c", password: "secret")
        var changes = accounts.changes.makeAsyncIterator()
        server.fail("token", .neverSent, .lostAnswer)
        #expect(try await accounts.token(replacing: "id-u1-1") == "id-u1-3")
        server.fail("token", .neverSent, .neverSent, .neverSent, .neverSent)
        await #expect(throws: RPCStatus.self) {
            try await accounts.token(replacing: "id-u1-3")
        }
        #expect(accounts.state == .signedIn(user), "no answer says nothing")
        server.removeAll()
        await #expect(throws: RPCStatus.self) {
            try await accounts.token(replacing: "id-u1-3")
        }
        #expect(accounts.state == .signedOut(.expired))
        #expect(await changes.next() == .signedOut(.expired))
        #expect(try store.read(.session) == nil)
    }

    @Test func `notify sign-ins and sign-outs in order`() async throws {
        var changes = accounts.changes.makeAsyncIterator()
        let first = try await accounts.signUp(email: "a@b.c", password: "secret")
        try await accounts.signOut()
        let second = try await accounts.signInAnonymously()
        #expect(await changes.next() == .signedIn(first))
        #expect(await changes.next() == .signedOut(.asked))
        #expect(await changes.next() == .signedIn(second))
    }

    @Test func `without a name become a person's by a link, and stay the same`() async throws {
        let user = try await accounts.signInAnonymously()
        try await accounts.link(email: "a@b.c", password: "secret")
        try await accounts.signOut()
        #expect(try await accounts.signIn(email: "a@b.c", password: "secret") == user)
    }

    @Test func `are deleted after the person has shown who they are`() async throws {
        try await accounts.signUp(email: "a@b.c", password: "secret")
        server.refuse("accounts:delete", "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        await #expect(throws: AccountError.needsRecentSignIn) { try await accounts.deleteAccount() }
        try await accounts.reauthenticate(password: "secret")
        server.refuse("accounts:delete", nil)
        try await accounts.deleteAccount()
        #expect(server.accounts == 0 && accounts.state == .signedOut(.removed))
    }

    @Test func `say what is wrong by what can be done about it`() async throws {
        await #expect(throws: AccountError.wrongCredentials) {
            try await accounts.signIn(email: "a@b.c", password: "secret")
        }
        await #expect(
            throws: AccountError.passwordWeak("Password should be at least 6 characters")
        ) { try await accounts.signUp(email: "a@b.c", password: "a") }
        try await accounts.signUp(email: "a@b.c", password: "secret")
        await #expect(throws: AccountError.addressTaken) {
            try await accounts.signUp(email: "a@b.c", password: "secret")
        }
        #expect(AccountError.unreachable("x").recovery == .waitForNetwork)
    }

    @Test func `print no secret`() async throws {
        let session = StoredSession(
            user: UserID("u")!, idToken: "hush", refreshToken: "hush", expires: 0,
            installation: "", isOfSignUp: false)
        let secret = SignUpSecret(password: "hush", token: "hush")
        let credential = ProviderCredential(provider: "apple.com", idToken: "hush")
        for text in ["\(session)", "\(secret)", "\(credential)"] { #expect(!text.contains("hush")) }
        var dumped = ""
        dump(session, to: &dumped)
        dump(secret, to: &dumped)
        dump(credential, to: &dumped)
        #expect(!dumped.contains("hush"))
    }
}
