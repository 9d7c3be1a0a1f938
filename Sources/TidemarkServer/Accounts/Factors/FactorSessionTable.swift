import TidemarkStore

/// The enrolments and sign-ins of one project that wait for a code.
struct FactorSessionTable {
    /// The lifetime of a session, in milliseconds: ten minutes.
    static let lifetime: Int64 = 600_000
    /// The maximum number of sessions of an account. Only the newest are kept.
    static let maxPerAccount: Int64 = 10

    let project: String
    let transaction: StoreTransaction
    private var rows: CodeRows {
        CodeRows(
            table: "factorSession", project: project, lifetime: Self.lifetime,
            transaction: transaction)
    }

    /// - Returns: The session; nil if there is none, or if it is too old.
    func session(_ digest: [UInt8], now: Int64) throws(StoreError) -> FactorSession? {
        try transaction.rows(
            """
            SELECT id, account, secret, provider, failures, createdAt FROM factorSession
            WHERE project = ? AND digest = ? AND createdAt >= ?
            """, [.text(project), .blob(digest), .integer(now - Self.lifetime)]
        ).first.map { row throws(StoreError) in
            try FactorSession(
                row: row.integer(0), digest: digest, account: row.integer(1),
                secret: row.optionalText(2), provider: row.text(3), failures: row.integer(4),
                createdAt: row.integer(5))
        }
    }

    func insert(_ session: FactorSession) throws(StoreError) {
        try rows.makeRoom(
            at: session.createdAt, column: "account", owner: .integer(session.account),
            most: Self.maxPerAccount)
        try transaction.execute(
            """
            INSERT INTO factorSession (project, digest, account, secret, provider, failures,
            createdAt) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(project), .blob(session.digest), .integer(session.account),
                .init(session.secret), .text(session.provider), .integer(session.failures),
                .integer(session.createdAt),
            ])
    }

    func setFailures(of session: FactorSession, to failures: Int64) throws(StoreError) {
        try rows.setFailures(of: session.row, to: failures)
    }

    func delete(_ session: FactorSession) throws(StoreError) {
        try rows.delete(session.row)
    }
}
