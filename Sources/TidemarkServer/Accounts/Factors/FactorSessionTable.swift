import TidemarkStore

/// The enrolments and sign-ins of one project that wait for a code.
struct FactorSessionTable {
    /// The lifetime of a session, in milliseconds: ten minutes.
    static let lifetime: Int64 = 600_000
    /// The maximum number of sessions of an account. Only the newest are kept.
    static let maxPerAccount = 10
    /// The maximum number of sessions in a project. Only the newest are kept.
    static let maxInAll = 10_000

    let project: String
    let transaction: StoreTransaction

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
        try transaction.execute(
            "DELETE FROM factorSession WHERE project = ? AND createdAt < ?",
            [.text(project), .integer(session.createdAt - Self.lifetime)])
        try transaction.execute(
            """
            DELETE FROM factorSession WHERE id IN (SELECT id FROM factorSession WHERE account = ?
            ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [.integer(session.account), .integer(Int64(Self.maxPerAccount - 1))])
        try transaction.execute(
            """
            DELETE FROM factorSession WHERE project = ? AND id <= (SELECT id FROM factorSession
            WHERE project = ? ORDER BY id DESC LIMIT 1 OFFSET ?)
            """, [.text(project), .text(project), .integer(Int64(Self.maxInAll - 1))])
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
        try transaction.execute(
            "UPDATE factorSession SET failures = ? WHERE id = ?",
            [.integer(failures), .integer(session.row)])
    }

    func delete(_ session: FactorSession) throws(StoreError) {
        try transaction.execute("DELETE FROM factorSession WHERE id = ?", [.integer(session.row)])
    }
}
