import TidemarkStore

/// A project's accounts, in the form of an export's folder.
package struct SavedAccounts: Hashable, Sendable {
    /// The accounts in the form of an administrator's list, with the keys and salts of passwords.
    package var users: [JSONTree]
    /// The schemes of the passwords, by the accounts' ids. Firebase's form has no place for them.
    package var schemes: [String: String]
    /// The settings that the tools of the project, or of the tenant, have made.
    package var configuration: [String: JSONTree]
    /// The second factors with their secrets, as JSON text, by the accounts' ids.
    package var factors: [String: String] = [:]
    /// The accounts of the project's tenants, and the tenants' settings, by the tenants' ids.
    package var tenants: [String: SavedAccounts] = [:]

    package init(
        users: [JSONTree] = [], schemes: [String: String] = [:],
        configuration: [String: JSONTree] = [:]
    ) {
        self.users = users
        self.schemes = schemes
        self.configuration = configuration
    }

    /// Returns the plain passwords in the file, which Firebase's emulator stores.
    ///
    /// - Parameters:
    ///   - scheme: The scheme in which the passwords will be stored.
    ///   - salt: Returns a new salt for each password.
    /// - Returns: The key derivations, by the indices of their users.
    package func plainPasswords(
        _ scheme: PasswordScheme, salt: () -> [UInt8]
    ) -> [(user: Int, work: PasswordWork)] {
        users.enumerated().compactMap { index, user in
            guard let password = Self.plainPassword(user) else { return nil }
            return (index, PasswordWork(scheme: scheme, salt: salt(), password: password))
        }
    }

    /// Replaces a user's password by a key.
    package mutating func set(_ key: PasswordKey, ofUser index: Int) {
        guard case .object(var fields) = users[index], let id = fields["localId"].text else {
            return
        }
        fields["passwordHash"] = .text(Base64.text(key.key, isURL: true))
        fields["salt"] = .text(Base64.text(key.work.salt, isURL: true))
        users[index] = .object(fields)
        schemes[id] = key.work.scheme.text
    }

    /// Returns the password in `fakeHash:salt=SALT:password=PASSWORD`. A password may contain
    /// colons.
    private static func plainPassword(_ user: JSONTree) -> String? {
        let begin = "fakeHash:salt="
        let middle = ":password="
        guard let hash = user.fields?["passwordHash"].text, hash.hasPrefix(begin) else {
            return nil
        }
        let rest = hash.dropFirst(begin.count)
        guard let range = rest.firstRange(of: middle) else { return nil }
        return String(rest[range.upperBound...])
    }
}

/// The result of a restore of accounts.
package struct RestoredAccounts: Hashable, Sendable {
    package var accounts = 0
    /// The number of restored accounts whose passwords this server cannot check: these users sign
    /// in another way, or request a new password.
    package var withoutPassword = 0

    package init() {}
}

extension AccountsCore {
    /// Returns the projects that have accounts, in the order of their names.
    package func projects() throws(AccountRefusal) -> [String] {
        try inTransaction(isRead: true, Self.nobody("demo")) { turn in
            let names = try turn.transaction.rows(
                """
                SELECT project FROM account UNION
                SELECT project FROM providerConfiguration WHERE kind = 'tenants'
                """, [])
            return Set(try names.map { AccountPool(name: try $0.text(0)).project }).sorted()
        }
    }

    /// Returns all accounts of a project and of its tenants, as of a single moment.
    package func saved(_ project: String) throws(AccountRefusal) -> SavedAccounts {
        try inTransaction(isRead: true, Self.nobody(project)) { turn in
            var saved = SavedAccounts(configuration: try turn.configuration().json)
            try Self.add(to: &saved, turn.accounts)
            for (tenant, settings) in try TenantCalls(turn: turn).all() {
                var accounts = turn.accounts
                accounts.pool = AccountPool(project: project, tenant: tenant)
                var own = SavedAccounts(configuration: settings)
                try Self.add(to: &own, accounts)
                saved.tenants[tenant] = own
            }
            return saved
        }
    }

    private static func add(to saved: inout SavedAccounts, _ accounts: AccountTable) throws {
        var last = ""
        while true {
            let page = try accounts.page(after: last, limit: 1_000)
            guard let end = page.last else { return }
            last = end.localID
            saved.users += page.map { account in
                // Firebase's emulator knows factors by phone alone. Ours are in ``factors``.
                var plain = account
                plain.factors = []
                return plain.json(withPassword: true)
            }
            for account in page {
                if let password = account.password {
                    saved.schemes[account.localID] = password.scheme.text
                }
                saved.factors[account.localID] = AccountTable.text(account.factors)
            }
        }
    }

    /// Restores accounts, all or none. Existing accounts stay, except that accounts with the same
    /// id are replaced; their sessions stay valid.
    package func restore(
        _ saved: SavedAccounts, to project: String
    ) throws(AccountRefusal) -> RestoredAccounts {
        try inTransaction(isRead: false, Self.nobody(project)) { turn in
            try RestoreCalls(turn: turn).restore(saved)
        }
    }

    private static func nobody(_ project: String) -> AccountCall {
        AccountCall(.batchGet, project: project, fields: AccountFields([:]))
    }
}
