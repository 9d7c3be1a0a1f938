import Testing
import TidemarkModel

@testable import TidemarkServer

/// The server limits attempts to sign in, and the codes that it sends.
struct AttemptTests {
    private let stopped = "TOO_MANY_ATTEMPTS_TRY_LATER"

    private func code(_ refusal: AccountRefusal?) -> String {
        String((refusal?.message ?? "none").prefix { $0 != " " })
    }

    @Test func `ten wrong passwords stop an account for a minute`() throws {
        let accounts = try TestAccounts()
        _ = try accounts.signUp()
        for _ in 0..<10 { #expect(accounts.signInRefusal() == .invalidLogin) }
        accounts.address = "10.0.0.2"
        #expect(code(accounts.signInRefusal()) == stopped, "from elsewhere too")
        #expect(code(accounts.signInRefusal("ann@example.com", "secret-1")) == stopped)
        accounts.seconds += 59
        #expect(code(accounts.signInRefusal()) == stopped)
        accounts.seconds += 1
        #expect(accounts.signInRefusal() == .invalidLogin)
        #expect(code(accounts.signInRefusal()) == stopped)
        accounts.seconds += 60
        #expect(try accounts.signIn().localID.isEmpty == false)
    }

    @Test func `right passwords do not count`() throws {
        let accounts = try TestAccounts()
        _ = try accounts.signUp()
        for _ in 0..<200 { _ = try accounts.signIn() }
    }

    @Test func `an address that tries many accounts is stopped, and others are not`() throws {
        let accounts = try TestAccounts()
        _ = try accounts.signUp()
        for number in 0..<50 {
            #expect(accounts.signInRefusal("u\(number)@example.com") == .invalidLogin)
        }
        #expect(code(accounts.signInRefusal("u51@example.com")) == stopped)
        #expect(code(accounts.signInRefusal("ann@example.com", "secret-1")) == stopped)
        accounts.address = "10.0.0.2"
        _ = try accounts.signIn()
    }

    @Test func `new accounts of one address are bounded`() throws {
        let accounts = try TestAccounts()
        for _ in 0..<100 { _ = try accounts.call(.signUp) }
        #expect(code(accounts.refusal(.signUp)) == stopped)
        accounts.seconds += 36
        #expect(accounts.refusal(.signUp) == nil)
    }

    @Test func `an emulator and an administrator have no limits`() throws {
        let emulator = try TestAccounts(.emulator)
        for _ in 0..<150 { _ = try emulator.call(.signUp) }
        _ = try emulator.signUp()
        for _ in 0..<60 { #expect(emulator.signInRefusal() == .invalidPassword) }
        let accounts = try TestAccounts()
        for number in 0..<150 {
            _ = try accounts.call(.create, ["localId": .text("u\(number)")], admin: true)
        }
    }

    @Test func `buckets fill up again, in whole attempts, and not when a clock goes back`() {
        var limiter = AttemptLimiter()
        let bucket = AttemptLimits.Bucket(3, oneMoreEvery: .seconds(10))
        func take(_ key: String, _ seconds: Int) -> Bool {
            limiter.take(key, bucket, now: .seconds(seconds))
        }
        let taken = [100, 100, 100, 100, 50, 109, 110, 119, 120].map { take("a", $0) }
        #expect(taken == [true, true, true, false, false, false, true, false, true])
        limiter.giveBack("a", bucket, now: .seconds(120))
        let after = [take("a", 120), take("a", 120), take("b", 120)]
        #expect(after == [true, false, true])
    }

    @Test func `no more keys are known than there is room for`() {
        var limiter = AttemptLimiter()
        let bucket = AttemptLimits.Bucket(1, oneMoreEvery: .seconds(10))
        let all = (0...AttemptLimiter.capacity).allSatisfy {
            limiter.take("k\($0)", bucket, now: .zero)
        }
        #expect(all)
        #expect(limiter.count == AttemptLimiter.capacity)
        let first = limiter.take("k0", bucket, now: .zero)
        let last = limiter.take("k\(AttemptLimiter.capacity)", bucket, now: .zero)
        #expect(first, "forgotten")
        #expect(!last)
    }

    @Test func `a code is good once and for an hour`() throws {
        let accounts = try TestAccounts()
        _ = try accounts.signUp()
        let ask: [String: JSONTree] = [
            "requestType": .text("PASSWORD_RESET"), "email": .text("ann@example.com"),
        ]
        _ = try accounts.call(.sendOobCode, ask)
        let first = try accounts.code()
        let reset: [String: JSONTree] = [
            "oobCode": .text(first), "newPassword": .text("secret-2"),
        ]
        accounts.seconds += 3_601
        #expect(accounts.refusal(.resetPassword, reset) == .codeExpired)
        _ = try accounts.call(.sendOobCode, ask)
        let second: [String: JSONTree] = [
            "oobCode": .text(try accounts.code()), "newPassword": .text("secret-2"),
        ]
        #expect(accounts.refusal(.resetPassword, second) == nil)
        #expect(accounts.refusal(.resetPassword, second) == .codeInvalid)
        _ = try accounts.signIn("ann@example.com", "secret-2")
    }

    @Test func `codes for one address are bounded, and each kind is good for its own use`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        let ask: [String: JSONTree] = [
            "requestType": .text("VERIFY_EMAIL"), "email": .text("ann@example.com"),
        ]
        for _ in 0..<5 { _ = try accounts.call(.sendOobCode, ask, token: session.token) }
        #expect(
            code(accounts.refusal(.sendOobCode, ask, token: session.token))
                == "RESET_PASSWORD_EXCEED_LIMIT")
        let wrong: [String: JSONTree] = [
            "oobCode": .text(try accounts.code()), "newPassword": .text("secret-2"),
        ]
        #expect(accounts.refusal(.resetPassword, wrong) == .codeInvalid)
    }

    @Test func `whoever proves an address gets the account without a stranger's password`() throws {
        let accounts = try TestAccounts()
        let stranger = try accounts.signUp()
        accounts.seconds += 5
        let ask: [String: JSONTree] = [
            "requestType": .text("EMAIL_SIGNIN"), "email": .text("ann@example.com"),
        ]
        _ = try accounts.call(.sendOobCode, ask)
        let owner = TestSession(
            try accounts.call(
                .signInWithEmailLink,
                ["email": .text("ann@example.com"), "oobCode": .text(try accounts.code())]))
        #expect(owner.localID == stranger.localID)
        #expect(accounts.signInRefusal("ann@example.com", "secret-1") == .invalidLogin)
        #expect(accounts.refusal(.lookup, token: stranger.token) == .tokenExpired)
        #expect(accounts.refreshRefusal(stranger.refreshToken) == .tokenExpired)
        #expect(accounts.refusal(.lookup, token: owner.token) == nil)
    }
}
