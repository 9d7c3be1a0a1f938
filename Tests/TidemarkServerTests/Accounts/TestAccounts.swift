import Synchronization
import TidemarkModel

@testable import TidemarkServer

/// The accounts in one thread. A test moves the clock, and a counter replaces random numbers.
final class TestAccounts {
    let core: AccountsCore
    private let time: TestTime
    var address = "10.0.0.1"

    init(
        _ mode: AccountsSettings.Mode = .secure, directory: String? = nil,
        _ change: (inout AccountsSettings) -> Void = { _ in }
    ) throws {
        var settings = AccountsSettings(mode, project: "test")
        change(&settings)
        let time = TestTime()
        let count = TestCount()
        core = try AccountsCore(
            settings, dataDirectory: directory,
            environment: AccountsEnvironment(
                now: { Timestamp(microseconds: time.seconds * 1_000_000) },
                randomBytes: { count.bytes($0) }, digest: { Self.digest($0) },
                authenticate: { Self.authenticate($0, $1) }))
        self.time = time
    }

    var seconds: Int64 {
        get { time.seconds }
        set { time.seconds = newValue }
    }

    /// Returns the same digest for the same bytes. Tests need no cryptography.
    static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return withUnsafeBytes(of: hash) { Array($0) }
    }

    /// Returns 20 bytes that depend on all bytes of the key and the message.
    static func authenticate(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let first = digest(key + message)
        return first + digest(first) + digest(digest(first)).prefix(4)
    }

    static func derive(_ work: PasswordWork) -> PasswordKey {
        PasswordKey(work, key: digest(work.salt + Array(work.password.utf8)))
    }

    func call(
        _ method: AccountMethod, _ fields: [String: JSONTree] = [:], admin: Bool = false,
        token: TokenFacts? = nil, _ change: (inout AccountCall) -> Void = { _ in }
    ) throws(AccountRefusal) -> AccountReply {
        var call = AccountCall(method, project: "test", fields: AccountFields(fields))
        call.isAdmin = admin
        call.token = token
        call.address = address
        change(&call)
        let work = try core.prepare(call)
        let reply = try core.perform(call, work.map(Self.derive))
        if reply.claims != nil { core.noteIssue(of: TestSession(reply).token, mark: reply.mark) }
        return reply
    }

    /// Returns nil if the call succeeds.
    func refusal(
        _ method: AccountMethod, _ fields: [String: JSONTree] = [:], admin: Bool = false,
        token: TokenFacts? = nil, _ change: (inout AccountCall) -> Void = { _ in }
    ) -> AccountRefusal? {
        do throws(AccountRefusal) {
            _ = try call(method, fields, admin: admin, token: token, change)
            return nil
        } catch { return error }
    }

    func signUp(
        _ email: String = "ann@example.com", _ password: String = "secret-1"
    ) throws -> TestSession {
        TestSession(
            try call(.signUp, ["email": .text(email), "password": .text(password)]))
    }

    func signIn(
        _ email: String = "ann@example.com", _ password: String = "secret-1"
    ) throws -> TestSession {
        TestSession(
            try call(
                .signInWithPassword, ["email": .text(email), "password": .text(password)]))
    }

    func signInRefusal(
        _ email: String = "ann@example.com", _ password: String = "wrong-1"
    ) -> AccountRefusal? {
        refusal(.signInWithPassword, ["email": .text(email), "password": .text(password)])
    }

    func refresh(_ token: String) throws(AccountRefusal) -> TestSession {
        TestSession(
            try call(
                .refresh, ["grant_type": .text("refresh_token"), "refresh_token": .text(token)]))
    }

    func refreshRefusal(_ token: String) -> AccountRefusal? {
        do throws(AccountRefusal) {
            _ = try refresh(token)
            return nil
        } catch { return error }
    }

    /// Returns the newest code that was sent to an address.
    func code(_ email: String = "ann@example.com") throws -> String {
        let codes = try call(.listOobCodes, admin: true).fields["oobCodes"].elements
        return codes.last { $0.fields?["email"].text == email }?.fields?["oobCode"].text ?? ""
    }
}

/// The result of a sign-in.
struct TestSession {
    let localID: String
    let refreshToken: String
    let token: TokenFacts

    init(_ reply: AccountReply) {
        var token = TokenFacts(reply.claims ?? [:])!
        // Tests need no cryptography, only a different signature for each token.
        token.signature = "\(reply.mark)"
        self.token = token
        localID = token.localID
        refreshToken = (reply.fields["refreshToken"] ?? reply.fields["refresh_token"]).text ?? ""
    }
}

final class TestTime: Sendable {
    private let value = Mutex<Int64>(1_700_000_000)
    var seconds: Int64 {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

final class TestCount: Sendable {
    private let count = Mutex<UInt64>(0)

    /// Returns different bytes on each call.
    func bytes(_ length: Int) -> [UInt8] {
        let start = count.withLock { count in
            count += 1
            return count
        }
        return (0..<length).map { UInt8(truncatingIfNeeded: start &* 31 &+ UInt64($0) &* 7 >> 1) }
            .enumerated().map { index, byte in
                index < 8 ? UInt8(truncatingIfNeeded: start >> (8 * UInt64(index))) : byte
            }
    }
}
