import TidemarkStore

/// A project's accounts as a folder of an export has them.
package struct SavedAccounts: Hashable, Sendable {
    /// As an administrator's list has them, with the keys and salts of passwords.
    package var users: [JSONTree]
    /// How the keys of passwords were made, by the accounts' ids. Firebase's form has no place for it.
    package var schemes: [String: String]
    /// What the project's tools have set.
    package var configuration: [String: JSONTree]

    package init(
        users: [JSONTree] = [], schemes: [String: String] = [:],
        configuration: [String: JSONTree] = [:]
    ) {
        self.users = users
        self.schemes = schemes
        self.configuration = configuration
    }

    /// Passwords that stand in the file as they are: Firebase's emulator keeps them so.
    ///
    /// - Parameters:
    ///   - scheme: What they are to be kept as.
    ///   - salt: Makes a new one for each.
    /// - Returns: The keys to be made, by the places of their users.
    package func plainPasswords(
        _ scheme: PasswordScheme, salt: () -> [UInt8]
    ) -> [(user: Int, work: PasswordWork)] {
        users.enumerated().compactMap { index, user in
            guard let password = Self.plainPassword(user) else { return nil }
            return (index, PasswordWork(scheme: scheme, salt: salt(), password: password))
        }
    }

    /// Puts a key in a password's place.
    package mutating func set(_ key: PasswordKey, ofUser index: Int) {
        guard case .object(var fields) = users[index], let id = fields["localId"].text else {
            return
        }
        fields["passwordHash"] = .text(Base64.text(key.key, isURL: true))
        fields["salt"] = .text(Base64.text(key.work.salt, isURL: true))
        users[index] = .object(fields)
        schemes[id] = key.work.scheme.text
    }

    /// `fakeHash:salt=SALT:password=PASSWORD`. A password may have colons in it.
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

/// What came of accounts that were brought back.
package struct RestoredAccounts: Hashable, Sendable {
    package var accounts = 0
    /// Of these, the ones whose passwords nobody here can check: they sign in another way, or have a new
    /// one sent.
    package var withoutPassword = 0

    package init() {}
}

extension AccountsCore {
    /// The projects that have accounts, in the order of their names.
    package func projects() throws(AccountRefusal) -> [String] {
        try inTransaction(isRead: true, Self.nobody("demo")) { turn in
            try turn.transaction.rows("SELECT DISTINCT project FROM account ORDER BY project", [])
                .map { try $0.text(0) }
        }
    }

    /// All accounts of a project, as of one moment.
    package func saved(_ project: String) throws(AccountRefusal) -> SavedAccounts {
        try inTransaction(isRead: true, Self.nobody(project)) { turn in
            var saved = SavedAccounts(configuration: try turn.configuration().json)
            var last = ""
            while true {
                let page = try turn.accounts.page(after: last, limit: 1_000)
                guard let end = page.last else { return saved }
                last = end.localID
                saved.users += page.map { $0.json(withPassword: true) }
                for account in page {
                    if let password = account.password {
                        saved.schemes[account.localID] = password.scheme.text
                    }
                }
            }
        }
    }

    /// Brings accounts in, all or none. Those that are there stay, and those of the same id are
    /// replaced; who is signed in there stays so.
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
