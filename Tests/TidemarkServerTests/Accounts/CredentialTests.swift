import Testing

@testable import TidemarkServer

/// Some changes of an account end its sessions; other changes keep them.
struct CredentialTests {
    typealias Change = @Sendable (inout [String: JSONTree]) -> Void

    private static let ends: [(String, Change)] = [
        ("another address", { $0["email"] = .text("bea@example.com") }),
        ("another number", { $0["phoneNumber"] = .text("+15550199") }),
        ("another password", { $0["password"] = .text("secret-2") }),
        ("no address", { $0["deleteAttribute"] = .list([.text("EMAIL")]) }),
        ("no number", { $0["deleteProvider"] = .list([.text("phone")]) }),
        ("no password", { $0["deleteProvider"] = .list([.text("password")]) }),
    ]

    private static let keeps: [(String, Change)] = [
        ("a name", { $0["displayName"] = .text("Ann") }),
        ("a picture", { $0["photoUrl"] = .text("http://localhost/ann.png") }),
        ("claims", { $0["customAttributes"] = .text("{}") }),
        ("proof of the address", { $0["emailVerified"] = .bool(true) }),
        ("the same address", { $0["email"] = .text("ANN@example.com") }),
        ("the same number", { $0["phoneNumber"] = .text("+1 555-0100") }),
    ]

    /// Returns an account with an address, a number and a password, one second after a sign-in.
    private func begin(
        _ mode: AccountsSettings.Mode
    ) throws -> (accounts: TestAccounts, session: TestSession) {
        let accounts = try TestAccounts(mode)
        let id = try accounts.signUp().localID
        _ = try accounts.call(
            .update, ["localId": .text(id), "phoneNumber": .text("+15550100")], admin: true)
        accounts.seconds += 1
        let session = try accounts.signIn()
        accounts.seconds += 1
        return (accounts, session)
    }

    @Test(arguments: AccountsSettings.Mode.allCases, Self.ends.indices)
    func `an administrator's change of a way to sign in ends the sessions`(
        mode: AccountsSettings.Mode, index: Int
    ) throws {
        let (accounts, session) = try begin(mode)
        var fields: [String: JSONTree] = ["localId": .text(session.localID)]
        Self.ends[index].1(&fields)
        _ = try accounts.call(.update, fields, admin: true)
        let name = Self.ends[index].0
        #expect(accounts.refusal(.lookup, token: session.token) == .tokenExpired, "\(name)")
        #expect(accounts.refreshRefusal(session.refreshToken) == .tokenExpired, "\(name)")
        #expect(throws: AccountRefusal.tokenExpired) { try accounts.core.check(session.token) }
    }

    @Test(arguments: AccountsSettings.Mode.allCases, Self.keeps.indices)
    func `other changes end nothing`(mode: AccountsSettings.Mode, index: Int) throws {
        let (accounts, session) = try begin(mode)
        var fields: [String: JSONTree] = ["localId": .text(session.localID)]
        Self.keeps[index].1(&fields)
        _ = try accounts.call(.update, fields, admin: true)
        let name = Self.keeps[index].0
        #expect(accounts.refusal(.lookup, token: session.token) == nil, "\(name)")
        #expect(accounts.refreshRefusal(session.refreshToken) == nil, "\(name)")
    }

    @Test func `an administrator's own time counts beside a change`() throws {
        let (accounts, session) = try begin(.emulator)
        _ = try accounts.call(
            .update,
            [
                "localId": .text(session.localID), "email": .text("bea@example.com"),
                "validSince": .integer(0),
            ], admin: true)
        #expect(accounts.refusal(.lookup, token: session.token) == nil)
    }

    @Test(arguments: AccountsSettings.Mode.allCases)
    func `an owner who changes the address goes on with new tokens, others do not`(
        mode: AccountsSettings.Mode
    ) throws {
        let (accounts, other) = try begin(mode)
        let owner = try accounts.signIn()
        accounts.seconds += 1
        let changed = TestSession(
            try accounts.call(
                .update, ["idToken": .text("shown"), "email": .text("bea@example.com")],
                token: owner.token))
        #expect(accounts.refusal(.lookup, token: changed.token) == nil)
        #expect(accounts.refreshRefusal(changed.refreshToken) == nil)
        for old in [other, owner] {
            #expect(accounts.refusal(.lookup, token: old.token) == .tokenExpired)
            #expect(accounts.refreshRefusal(old.refreshToken) == .tokenExpired)
        }
    }

    @Test func `an owner who lets go of a provider keeps the tokens`() throws {
        let (accounts, session) = try begin(.emulator)
        _ = try accounts.call(
            .update, ["idToken": .text("shown"), "deleteProvider": .list([.text("phone")])],
            token: session.token)
        #expect(accounts.refusal(.lookup, token: session.token) == nil)
    }

    @Test func `accounts that are brought back with another address end its sessions`() throws {
        let (accounts, session) = try begin(.emulator)
        var saved = try accounts.core.saved("test")
        _ = try accounts.core.restore(saved, to: "test")
        #expect(accounts.refreshRefusal(session.refreshToken) == nil)
        guard case .object(var user) = saved.users[0] else { return }
        user["email"] = .text("bea@example.com")
        saved.users[0] = .object(user)
        _ = try accounts.core.restore(saved, to: "test")
        #expect(accounts.refreshRefusal(session.refreshToken) == .tokenExpired)
    }
}
