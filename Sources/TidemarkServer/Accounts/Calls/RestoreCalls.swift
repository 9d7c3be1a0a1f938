import TidemarkModel
import TidemarkStore

/// Restores the accounts of an export.
struct RestoreCalls: AccountCalls {
    let turn: AccountTurn

    /// - Throws: The error of the first account that cannot be restored, with its index in the
    ///   list.
    func restore(_ saved: SavedAccounts) throws -> RestoredAccounts {
        var result = try restoreAccounts(saved)
        try configure(saved.configuration)
        for (tenant, accounts) in saved.tenants.sorted(by: { $0.key < $1.key }) {
            var turn = turn
            try TenantCalls(turn: turn).restore(tenant, accounts.configuration)
            turn.call.pool = AccountPool(project: call.pool.project, tenant: tenant)
            let restored = try RestoreCalls(turn: turn).restoreAccounts(accounts)
            result.accounts += restored.accounts
            result.withoutPassword += restored.withoutPassword
        }
        return result
    }

    private func restoreAccounts(_ saved: SavedAccounts) throws -> RestoredAccounts {
        var result = RestoredAccounts()
        for (index, user) in saved.users.enumerated() {
            do {
                let account = try restoreOne(
                    AccountFields(user.fields ?? [:]).withoutEmptyTexts, saved)
                result.accounts += 1
                if user.fields?["passwordHash"] != nil, account.password == nil {
                    result.withoutPassword += 1
                }
            } catch let refusal as AccountRefusal {
                throw AccountRefusal("\(refusal.message) (users[\(index)])", status: refusal.status)
            }
        }
        return result
    }

    private func restoreOne(
        _ user: AccountFields, _ saved: SavedAccounts
    ) throws -> Account {
        guard let localID = try user.localID() else { throw AccountRefusal.missingLocalID }
        let known = try accounts.account(localID: localID)
        var account = try AccountBatches(turn: turn).imported(user, localID: localID, known: known)
        account.isCustom = try user.flag("customAuth") ?? false
        account.usesEmailLink = try user.flag("emailLinkSignin") ?? false
        account.initialEmail = try user.filled("initialEmail") ?? account.initialEmail
        if let text = try user.filled("lastRefreshAt"), let time = Timestamp(rfc3339: text) {
            account.lastRefreshAt = time.microseconds / 1_000
        }
        account.password = try password(user, saved.schemes[localID])
        account.factors = try factors(saved.factors[localID])
        // The file can contain the providers in any order.
        account.links.sort { $0.providerID < $1.providerID }
        if let known {
            account.row = known.row
            if account.email != known.email || account.phoneNumber != known.phoneNumber {
                try turn.revokeTokens(of: &account)
            }
            try accounts.update(account)
        } else {
            try accounts.insert(&account)
        }
        return account
    }

    private func factors(_ text: String?) throws -> [SecondFactor] {
        let factors: [SecondFactor]
        do throws(StoreError) { factors = try AccountTable.factors(text) } catch {
            throw AccountRefusal.invalidArgument("The second factors cannot be read.")
        }
        let isValid = factors.allSatisfy { Base32.bytes($0.secret)?.isEmpty == false }
        guard isValid, factors.count <= SecondFactor.maxPerAccount else {
            throw AccountRefusal.invalidArgument("The second factors are invalid.")
        }
        return factors
    }

    /// Returns nil if the account has no password, or if the file does not name the password's
    /// scheme.
    private func password(_ user: AccountFields, _ text: String?) throws -> StoredPassword? {
        guard let hash = try user.filled("passwordHash"), let text else { return nil }
        guard let scheme = PasswordScheme(text: text), scheme.isBounded else {
            throw AccountRefusal("INVALID_HASH_ALGORITHM : \(text.prefix(100)) is unknown.")
        }
        var password = try ImportedPasswords(turn: turn).password(
            hash, salt: try user.text("salt") ?? "", scheme: scheme)
        password.scheme = scheme
        password.updatedAt = try user.integer("passwordUpdatedAt") ?? now
        return password
    }

    private func configure(_ configuration: [String: JSONTree]) throws {
        let known = configuration.filter { ["emailPrivacyConfig", "mfa"].contains($0.key) }
        if known.isEmpty { return }
        let set = AccountCall(
            .updateConfig, project: call.pool.project, fields: AccountFields(known))
        var other = turn
        other.call = set
        _ = try AccountLists(turn: other).updateConfiguration()
    }
}

extension PasswordScheme {
    /// True if the parameters are small enough. Each later sign-in makes the server do this work.
    var isBounded: Bool {
        switch self {
        case .scrypt(let logN, let size, let parallelism, let bytes):
            (1...18).contains(logN) && (1...32).contains(size) && size << logN <= 1 << 21
                && (1...16).contains(parallelism) && (16...256).contains(bytes)
        case .firebaseScrypt(let logN, let size, let separator, let key):
            (1...14).contains(logN) && (1...8).contains(size) && separator.count <= 64
                && (key.count == 32 || key.count == 64)
        case .digest(_, let rounds, _): (0...8_192).contains(rounds)
        case .hmac(_, let key, _): (1...1_024).contains(key.count)
        case .pbkdf2(_, let rounds, let bytes):
            (0...120_000).contains(rounds) && (1...1_024).contains(bytes)
        }
    }
}
