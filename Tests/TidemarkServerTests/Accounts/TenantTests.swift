import Testing

@testable import TidemarkServer

/// A project's tenants have accounts of their own.
struct TenantTests {
    private static let ann: [String: JSONTree] = [
        "email": .text("ann@example.com"), "password": .text("secret-1"),
    ]

    private func pool(_ tenant: String?) -> (inout AccountCall) -> Void {
        { $0.pool = AccountPool(project: "test", tenant: tenant) }
    }

    private func made(
        _ accounts: TestAccounts, _ settings: [String: JSONTree] = [:]
    ) throws -> String {
        let all: [String: JSONTree] = [
            "displayName": .text("acme"), "allowPasswordSignup": .bool(true),
        ]
        let reply = try accounts.call(
            .createTenant, all.merging(settings) { $1 }, admin: true)
        let name = try #require(reply.fields["name"].text)
        return try #require(name.split(separator: "/").last.map(String.init))
    }

    @Test(arguments: AccountsSettings.Mode.allCases)
    func `an address has one account in each pool`(mode: AccountsSettings.Mode) throws {
        let accounts = try TestAccounts(mode)
        let (first, second) = (try made(accounts), try made(accounts))
        #expect(first != second)
        var ids: Set<String> = []
        for tenant in [nil, first, second] {
            let session = TestSession(try accounts.call(.signUp, Self.ann, pool(tenant)))
            ids.insert(session.localID)
            #expect(session.token.tenant == tenant && session.token.project == "test")
            let again = accounts.refusal(.signUp, Self.ann, pool(tenant))
            #expect(again == .emailExists, "\(tenant ?? "no tenant")")
            let reply = try accounts.call(.signInWithPassword, Self.ann, pool(tenant))
            #expect(reply.fields["tenantId"].text == tenant)
            #expect(TestSession(reply).localID == session.localID)
            let refreshed = try accounts.refresh(session.refreshToken)
            #expect(refreshed.token.tenant == tenant)
        }
        #expect(ids.count == 3)
    }

    @Test func `a token of a pool opens no account of another`() throws {
        let accounts = try TestAccounts()
        let tenant = try made(accounts)
        let own = TestSession(try accounts.call(.signUp, Self.ann))
        let other = TestSession(try accounts.call(.signUp, Self.ann, pool(tenant)))
        #expect(
            accounts.refusal(.lookup, token: own.token, pool(tenant))?.message
                == "TENANT_ID_MISMATCH")
        #expect(
            accounts.refusal(.lookup, token: other.token, pool(nil))?.message
                == "TENANT_ID_MISMATCH")
        let found = try accounts.call(.lookup, token: other.token, pool(tenant))
        #expect(found.fields["users"].elements.first?.fields?["tenantId"].text == tenant)
        // A token for Firestore names its pool.
        try accounts.core.check(own.token)
        try accounts.core.check(other.token)
        _ = try accounts.call(.deleteTenant, ["_id": .text(tenant)], admin: true)
        #expect(throws: AccountRefusal.self) { try accounts.core.check(other.token) }
        try accounts.core.check(own.token)
    }

    @Test func `a tenant allows what it was made for`() throws {
        let accounts = try TestAccounts()
        let tenant = try made(accounts, ["allowPasswordSignup": .bool(false)])
        func refusal(_ method: AccountMethod, _ fields: [String: JSONTree]) -> String? {
            accounts.refusal(method, fields, pool(tenant))?.message
        }
        #expect(refusal(.signUp, Self.ann) == "OPERATION_NOT_ALLOWED")
        #expect(refusal(.signInWithPassword, Self.ann) == "PASSWORD_LOGIN_DISABLED")
        #expect(refusal(.signUp, [:]) == "ADMIN_ONLY_OPERATION")
        let link: [String: JSONTree] = [
            "requestType": .text("EMAIL_SIGNIN"), "email": .text("ann@example.com"),
        ]
        #expect(refusal(.sendOobCode, link) == "OPERATION_NOT_ALLOWED")
        #expect(
            refusal(.sendVerificationCode, ["phoneNumber": .text("+15550100")])
                == "UNSUPPORTED_TENANT_OPERATION")
        let change: [String: JSONTree] = [
            "_id": .text(tenant), "allowPasswordSignup": .bool(true),
            "enableAnonymousUser": .bool(true),
        ]
        _ = try accounts.call(.updateTenant, change, admin: true)
        #expect(refusal(.signUp, Self.ann) == nil && refusal(.signUp, [:]) == nil)
        let off: [String: JSONTree] = ["_id": .text(tenant), "disableAuth": .bool(true)]
        _ = try accounts.call(.updateTenant, off, admin: true)
        #expect(refusal(.signInWithPassword, Self.ann) == "PROJECT_DISABLED")
    }

    @Test func `a tenant that nobody has made exists in an emulator alone`() throws {
        let (secure, emulator) = (try TestAccounts(.secure), try TestAccounts(.emulator))
        #expect(secure.refusal(.signUp, Self.ann, pool("any"))?.message == "TENANT_NOT_FOUND")
        #expect(emulator.refusal(.signUp, Self.ann, pool("any")) == nil)
    }

    @Test(arguments: ["abc", "a-name-that-is-too-long", "1abc", "a b c"])
    func `a name that production refuses makes no tenant`(name: String) throws {
        let accounts = try TestAccounts()
        let refusal = accounts.refusal(
            .createTenant, ["displayName": .text(name)], admin: true)
        #expect(refusal?.message.hasPrefix("INVALID_DISPLAY_NAME") == true)
    }

    @Test func `tenants are made by administrators, and listed in pages`() throws {
        let accounts = try TestAccounts()
        #expect(
            accounts.refusal(.createTenant, ["displayName": .text("acme")])
                == .insufficientPermission)
        let all = try (0..<5).map { _ in try made(accounts) }.sorted()
        var (seen, mark): ([String], JSONTree?) = ([], nil)
        repeat {
            var fields: [String: JSONTree] = ["pageSize": .integer(2)]
            fields["pageToken"] = mark
            let reply = try accounts.call(.listTenants, fields, admin: true)
            seen += reply.fields["tenants"].elements.compactMap {
                $0.fields?["name"].text?.split(separator: "/").last.map(String.init)
            }
            mark = reply.fields["nextPageToken"]
        } while mark != nil
        #expect(seen == all)
    }

    @Test func `an export has the accounts of all tenants, and a restore returns them`() throws {
        let accounts = try TestAccounts(.emulator)
        let tenant = try made(accounts)
        for pool in [pool(nil), pool(tenant), pool("any")] {
            _ = try accounts.call(.signUp, Self.ann, pool)
        }
        #expect(try accounts.core.projects() == ["test"])
        let saved = try accounts.core.saved("test")
        #expect(saved.users.count == 1 && Set(saved.tenants.keys) == [tenant, "any"])
        let other = try TestAccounts(.emulator)
        #expect(try other.core.restore(saved, to: "test").accounts == 3)
        for pool in [pool(nil), pool(tenant), pool("any")] {
            _ = try other.call(.signInWithPassword, Self.ann, pool)
        }
        #expect(try other.core.saved("test") == saved)
        _ = try other.call(.getTenant, ["_id": .text(tenant)], admin: true)
    }
}
