import TidemarkStore

/// A code that was sent to a phone, or a proof that the phone's code was correct. Times are in
/// milliseconds since 1970.
struct PhoneCode: Hashable, Sendable {
    var row: Int64 = 0
    /// The digest of the session's name or of the proof, which only the client has.
    var digest: [UInt8]
    /// The session's name; nil for a proof.
    var session: String?
    /// Six digits; nil for a proof.
    var code: String?
    var phoneNumber: String
    /// The number of wrong codes so far.
    var failures: Int64 = 0
    var createdAt: Int64
}

/// The codes and proofs of one project's phones.
struct PhoneCodeTable {
    /// The lifetime of a code and of a proof, in milliseconds: an hour.
    static let lifetime: Int64 = 3_600_000
    /// The maximum number of codes for a phone number. Only the newest are kept.
    static let maxPerNumber: Int64 = 10

    let project: String
    let transaction: StoreTransaction
    private var rows: CodeRows {
        CodeRows(
            table: "phoneCode", project: project, lifetime: Self.lifetime, transaction: transaction)
    }

    private static let columns = "id, digest, session, code, phoneNumber, failures, createdAt"

    func code(_ digest: [UInt8]) throws(StoreError) -> PhoneCode? {
        try transaction.rows(
            "SELECT \(Self.columns) FROM phoneCode WHERE project = ? AND digest = ?",
            [.text(project), .blob(digest)]
        ).first.map { row throws(StoreError) in try Self.read(row) }
    }

    /// Returns all codes, oldest first, without the proofs.
    func codes() throws(StoreError) -> [PhoneCode] {
        try transaction.rows(
            """
            SELECT \(Self.columns) FROM phoneCode WHERE project = ? AND code IS NOT NULL ORDER BY id
            """, [.text(project)]
        ).map { row throws(StoreError) in try Self.read(row) }
    }

    private static func read(_ row: SQLRow) throws(StoreError) -> PhoneCode {
        try PhoneCode(
            row: row.integer(0), digest: row.blob(1), session: row.optionalText(2),
            code: row.optionalText(3), phoneNumber: row.text(4), failures: row.integer(5),
            createdAt: row.integer(6))
    }

    func insert(_ code: PhoneCode) throws(StoreError) {
        try rows.makeRoom(
            at: code.createdAt, column: "phoneNumber", owner: .text(code.phoneNumber),
            most: Self.maxPerNumber)
        try transaction.execute(
            """
            INSERT INTO phoneCode (project, digest, session, code, phoneNumber, failures, createdAt)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(project), .blob(code.digest), .init(code.session), .init(code.code),
                .text(code.phoneNumber), .integer(code.failures), .integer(code.createdAt),
            ])
    }

    func setFailures(of code: PhoneCode, to failures: Int64) throws(StoreError) {
        try rows.setFailures(of: code.row, to: failures)
    }

    func delete(_ code: PhoneCode) throws(StoreError) {
        try rows.delete(code.row)
    }
}
