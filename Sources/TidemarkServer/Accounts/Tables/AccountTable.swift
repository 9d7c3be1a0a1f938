import Foundation
import TidemarkStore

/// The accounts of one pool.
struct AccountTable {
    var pool: AccountPool
    let transaction: StoreTransaction
    /// Records each account that is changed or removed.
    let changes: AccountChanges

    private static let columns = """
        id, localID, email, isEmailVerified, displayName, photoURL, phoneNumber, passwordScheme, \
        passwordSalt, passwordKey, passwordUpdatedAt, customAttributes, isDisabled, isCustom, \
        usesEmailLink, createdAt, lastLoginAt, lastRefreshAt, validSince, initialEmail, \
        secondFactors
        """

    // MARK: Finding

    func account(localID: String) throws(StoreError) -> Account? {
        try first("localID = ?", .text(localID))
    }

    func account(email: String) throws(StoreError) -> Account? {
        try first("email = ?", .text(email))
    }

    func account(phoneNumber: String) throws(StoreError) -> Account? {
        try first("phoneNumber = ?", .text(phoneNumber))
    }

    func account(row: Int64) throws(StoreError) -> Account? { try first("id = ?", .integer(row)) }

    func account(providerID: String, rawID: String) throws(StoreError) -> Account? {
        let rows = try transaction.rows(
            "SELECT account FROM accountLink WHERE project = ? AND providerID = ? AND rawID = ?",
            [.text(pool.name), .text(providerID), .text(rawID)])
        guard let row = rows.first else { return nil }
        return try account(row: row.integer(0))
    }

    private func first(_ condition: String, _ value: SQLValue) throws(StoreError) -> Account? {
        let rows = try transaction.rows(
            "SELECT \(Self.columns) FROM account WHERE project = ? AND \(condition)",
            [.text(pool.name), value])
        return try rows.first.map { row throws(StoreError) in try read(row) }
    }

    /// Returns the accounts whose ids follow `localID`, in the byte order of the ids.
    func page(after localID: String, limit: Int) throws(StoreError) -> [Account] {
        let rows = try transaction.rows(
            """
            SELECT \(Self.columns) FROM account WHERE project = ? AND localID > ?
            ORDER BY localID LIMIT ?
            """, [.text(pool.name), .text(localID), .integer(Int64(limit))])
        return try accounts(rows)
    }

    /// Returns only the ids of these accounts.
    func ids(after localID: String, limit: Int) throws(StoreError) -> [String] {
        try transaction.rows(
            "SELECT localID FROM account WHERE project = ? AND localID > ? ORDER BY localID LIMIT ?",
            [.text(pool.name), .text(localID), .integer(Int64(limit))]
        ).map { row throws(StoreError) in try row.text(0) }
    }

    func count() throws(StoreError) -> Int64 {
        try transaction.rows("SELECT COUNT(*) FROM account WHERE project = ?", [.text(pool.name)])[
            0
        ]
        .integer(0)
    }

    /// - Parameter order: SQL from this server, never from a request.
    func accounts(
        where condition: String = "1", _ arguments: [SQLValue] = [], orderedBy order: String,
        offset: Int64, limit: Int64
    ) throws(StoreError) -> [Account] {
        let rows = try transaction.rows(
            """
            SELECT \(Self.columns) FROM account WHERE project = ? AND (\(condition))
            ORDER BY \(order) LIMIT ? OFFSET ?
            """, [.text(pool.name)] + arguments + [.integer(limit), .integer(offset)])
        return try accounts(rows)
    }

    private func accounts(_ rows: [SQLRow]) throws(StoreError) -> [Account] {
        var accounts: [Account] = []
        accounts.reserveCapacity(rows.count)
        for row in rows { accounts.append(try read(row)) }
        return accounts
    }

    private func read(_ row: SQLRow) throws(StoreError) -> Account {
        var account = try Account(localID: row.text(1), createdAt: row.integer(15))
        account.row = try row.integer(0)
        account.email = try row.optionalText(2)
        account.isEmailVerified = try row.integer(3) != 0
        account.displayName = try row.optionalText(4)
        account.photoURL = try row.optionalText(5)
        account.phoneNumber = try row.optionalText(6)
        account.password = try Self.password(row)
        account.customAttributes = try row.optionalText(11)
        account.isDisabled = try row.integer(12) != 0
        account.isCustom = try row.integer(13) != 0
        account.usesEmailLink = try row.integer(14) != 0
        account.lastLoginAt = try row.optionalInteger(16)
        account.lastRefreshAt = try row.optionalInteger(17)
        account.validSince = try row.integer(18)
        account.initialEmail = try row.optionalText(19)
        account.factors = try Self.factors(row.optionalText(20))
        account.links = try links(of: account.row)
        return account
    }

    private static func password(_ row: SQLRow) throws(StoreError) -> StoredPassword? {
        guard let text = try row.optionalText(7) else { return nil }
        guard let scheme = PasswordScheme(text: text) else {
            throw .corrupt(detail: "an account's password is of an unknown scheme")
        }
        return try StoredPassword(
            scheme: scheme, salt: row.blob(8), key: row.blob(9), updatedAt: row.integer(10))
    }

    /// - Throws: ``StoreError`` if the text is not one of ``text(_:)``.
    static func factors(_ text: String?) throws(StoreError) -> [SecondFactor] {
        guard let text else { return [] }
        do { return try JSONDecoder().decode([SecondFactor].self, from: Data(text.utf8)) } catch {
            throw .corrupt(detail: "an account's second factors cannot be read")
        }
    }

    private func links(of account: Int64) throws(StoreError) -> [ProviderLink] {
        try transaction.rows(
            """
            SELECT providerID, rawID, email, displayName, photoURL, screenName, federatedID
            FROM accountLink WHERE account = ? ORDER BY providerID
            """, [.integer(account)]
        ).map { row throws(StoreError) in
            try ProviderLink(
                providerID: row.text(0), rawID: row.text(1), email: row.optionalText(2),
                displayName: row.optionalText(3), photoURL: row.optionalText(4),
                screenName: row.optionalText(5), federatedID: row.optionalText(6))
        }
    }
}

// MARK: - Changing

extension AccountTable {
    /// - Precondition: No other account has the same id, address, number or links.
    func insert(_ account: inout Account) throws(StoreError) {
        precondition(account.row == 0)
        let values = [.text(pool.name), .text(account.localID)] + Self.values(account)
        let places = Array(repeating: "?", count: values.count).joined(separator: ", ")
        try transaction.execute(
            """
            INSERT INTO account (project, localID, email, isEmailVerified, displayName, photoURL,
            phoneNumber, passwordScheme, passwordSalt, passwordKey, passwordUpdatedAt,
            customAttributes, isDisabled, isCustom, usesEmailLink, createdAt, lastLoginAt,
            lastRefreshAt, validSince, initialEmail, secondFactors) VALUES (\(places))
            """, values)
        account.row = transaction.lastInsertedRowID
        // An account of the same id may have been deleted in this second.
        changes.void(account.localID, in: pool, second: account.validSince)
        try insertLinks(of: account)
    }

    func update(_ account: Account) throws(StoreError) {
        precondition(account.row != 0)
        changes.changed.note(account.localID, in: pool)
        try transaction.execute(
            """
            UPDATE account SET email = ?, isEmailVerified = ?, displayName = ?, photoURL = ?,
            phoneNumber = ?, passwordScheme = ?, passwordSalt = ?, passwordKey = ?,
            passwordUpdatedAt = ?, customAttributes = ?, isDisabled = ?, isCustom = ?,
            usesEmailLink = ?, createdAt = ?, lastLoginAt = ?, lastRefreshAt = ?, validSince = ?,
            initialEmail = ?, secondFactors = ? WHERE id = ?
            """, Self.values(account) + [.integer(account.row)])
        guard try links(of: account.row) != account.links else { return }
        try transaction.execute(
            "DELETE FROM accountLink WHERE account = ?", [.integer(account.row)])
        try insertLinks(of: account)
    }

    func delete(_ account: Account) throws(StoreError) {
        changes.changed.note(account.localID, in: pool)
        for table in ["accountLink", "session", "factorSession"] {
            try transaction.execute(
                "DELETE FROM \(table) WHERE account = ?", [.integer(account.row)])
        }
        try transaction.execute("DELETE FROM account WHERE id = ?", [.integer(account.row)])
    }

    func clear() throws(StoreError) {
        changes.changed.noteAll(in: pool)
        try transaction.execute(
            """
            DELETE FROM session WHERE account IN (SELECT id FROM account WHERE project = ?)
            """, [.text(pool.name)])
        for table in ["accountLink", "oneTimeCode", "phoneCode", "factorSession", "account"] {
            try transaction.execute("DELETE FROM \(table) WHERE project = ?", [.text(pool.name)])
        }
    }

    private func insertLinks(of account: Account) throws(StoreError) {
        for link in account.links {
            try transaction.execute(
                """
                INSERT INTO accountLink (project, providerID, rawID, account, email, displayName,
                photoURL, screenName, federatedID) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(pool.name), .text(link.providerID), .text(link.rawID),
                    .integer(account.row), .init(link.email), .init(link.displayName),
                    .init(link.photoURL), .init(link.screenName), .init(link.federatedID),
                ])
        }
    }

    private static func values(_ account: Account) -> [SQLValue] {
        let password = account.password
        return [
            .init(account.email), .init(account.isEmailVerified), .init(account.displayName),
            .init(account.photoURL), .init(account.phoneNumber), .init(password?.scheme.text),
            password.map { .blob($0.salt) } ?? .null, password.map { .blob($0.key) } ?? .null,
            .init(password?.updatedAt), .init(account.customAttributes),
            .init(account.isDisabled), .init(account.isCustom), .init(account.usesEmailLink),
            .integer(account.createdAt), .init(account.lastLoginAt), .init(account.lastRefreshAt),
            .integer(account.validSince), .init(account.initialEmail),
            .init(text(account.factors)),
        ]
    }

    /// Returns the factors as JSON; nil if there are none.
    static func text(_ factors: [SecondFactor]) -> String? {
        if factors.isEmpty { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(factors)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension SQLValue {
    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }
    init(_ flag: Bool) { self = .integer(flag ? 1 : 0) }
}

extension SQLRow {
    func optionalText(_ column: Int) throws(StoreError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    func optionalInteger(_ column: Int) throws(StoreError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }
}
