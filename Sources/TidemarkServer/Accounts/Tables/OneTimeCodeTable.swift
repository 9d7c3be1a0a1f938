import TidemarkStore

/// A code that was sent to an address. Times are in milliseconds since 1970.
struct OneTimeCode: Hashable, Sendable {
    enum Kind: String, Sendable {
        case resetPassword = "PASSWORD_RESET"
        case verifyEmail = "VERIFY_EMAIL"
        case signIn = "EMAIL_SIGNIN"
        case changeEmail = "VERIFY_AND_CHANGE_EMAIL"
    }

    var row: Int64 = 0
    var digest: [UInt8]
    /// The code itself; nil if only its holder may know it.
    var code: String?
    var kind: Kind
    var email: String
    var newEmail: String?
    var link: String?
    var createdAt: Int64
}

/// The codes of a project.
struct OneTimeCodeTable {
    /// The lifetime of a code in milliseconds: an hour. Source: Firebase, "Email link expiration".
    static let lifetime: Int64 = 3_600_000
    /// The maximum number of codes for an address; the newest are kept.
    static let maxPerEmail: Int64 = 10

    let project: String
    let transaction: StoreTransaction
    private var rows: CodeRows {
        CodeRows(
            table: "oneTimeCode", project: project, lifetime: Self.lifetime,
            transaction: transaction)
    }

    private static let columns = "id, digest, code, kind, email, newEmail, link, createdAt"

    func code(_ digest: [UInt8]) throws(StoreError) -> OneTimeCode? {
        let rows = try transaction.rows(
            "SELECT \(Self.columns) FROM oneTimeCode WHERE project = ? AND digest = ?",
            [.text(project), .blob(digest)])
        return try rows.first.map { row throws(StoreError) in try read(row) }
    }

    func all() throws(StoreError) -> [OneTimeCode] {
        let rows = try transaction.rows(
            "SELECT \(Self.columns) FROM oneTimeCode WHERE project = ? ORDER BY id",
            [.text(project)])
        var codes: [OneTimeCode] = []
        for row in rows { codes.append(try read(row)) }
        return codes
    }

    private func read(_ row: SQLRow) throws(StoreError) -> OneTimeCode {
        let purpose = try row.text(3)
        guard let kind = OneTimeCode.Kind(rawValue: purpose) else {
            throw .corrupt(detail: "a one-time code is for \(purpose)")
        }
        return try OneTimeCode(
            row: row.integer(0), digest: row.blob(1), code: row.optionalText(2), kind: kind,
            email: row.text(4), newEmail: row.optionalText(5), link: row.optionalText(6),
            createdAt: row.integer(7))
    }

    func insert(_ code: OneTimeCode) throws(StoreError) {
        try rows.makeRoom(
            at: code.createdAt, column: "email", owner: .text(code.email), most: Self.maxPerEmail)
        try transaction.execute(
            """
            INSERT INTO oneTimeCode (project, digest, code, kind, email, newEmail, link, createdAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(project), .blob(code.digest), .init(code.code), .text(code.kind.rawValue),
                .text(code.email), .init(code.newEmail), .init(code.link),
                .integer(code.createdAt),
            ])
    }

    func delete(_ code: OneTimeCode) throws(StoreError) {
        try rows.delete(code.row)
    }

    /// Deletes the codes of an address that now belongs to another account, or to none.
    func deleteAll(of email: String) throws(StoreError) {
        try transaction.execute(
            "DELETE FROM oneTimeCode WHERE project = ? AND email = ?",
            [.text(project), .text(email)])
    }
}
