import TidemarkStore

/// The session of a refresh token. Times are in seconds since 1970.
struct Session: Hashable, Sendable {
    var id: [UInt8]
    var account: Int64
    /// The digest of the newest token's secret.
    var secret: [UInt8]
    /// The digest of the previous token's secret. It stays valid until the newest token is used,
    /// because the client may have missed the answer.
    var previous: [UInt8] = []
    /// The provider of the sign-in, in the form of `sign_in_provider`.
    var provider: String
    /// The claims that the sign-in adds to every token, as the text of a JSON object.
    var claims = "{}"
    /// The id of the second factor of the sign-in; nil for none.
    var factor: String?
    var createdAt: Int64
    var usedAt: Int64
    /// True if the session was ended permanently. Its row remains, because the client must receive
    /// the reason.
    var isRevoked = false
}

struct SessionTable {
    /// The maximum number of sessions of an account. Above it, the sessions with the oldest use are
    /// deleted.
    static let maxPerAccount = 100

    let transaction: StoreTransaction

    func session(_ id: [UInt8]) throws(StoreError) -> Session? {
        try transaction.rows(
            """
            SELECT id, account, secret, previous, provider, claims, createdAt, usedAt, isRevoked,
            secondFactor FROM session WHERE id = ?
            """, [.blob(id)]
        ).first.map { row throws(StoreError) in
            try Session(
                id: row.blob(0), account: row.integer(1), secret: row.blob(2),
                previous: row.blob(3), provider: row.text(4), claims: row.text(5),
                factor: row.optionalText(9), createdAt: row.integer(6), usedAt: row.integer(7),
                isRevoked: row.integer(8) != 0)
        }
    }

    /// Returns the name of a session's pool; nil if its account was deleted.
    func pool(of session: Session) throws(StoreError) -> String? {
        try transaction.rows(
            "SELECT project FROM account WHERE id = ?", [.integer(session.account)]
        ).first.map { row throws(StoreError) in try row.text(0) }
    }

    func insert(_ session: Session) throws(StoreError) {
        try transaction.execute(
            """
            DELETE FROM session WHERE id IN (SELECT id FROM session WHERE account = ?
            ORDER BY usedAt DESC, id LIMIT -1 OFFSET ?)
            """, [.integer(session.account), .integer(Int64(Self.maxPerAccount - 1))])
        try transaction.execute(
            """
            INSERT INTO session (id, account, secret, previous, provider, claims, createdAt, usedAt,
            secondFactor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .blob(session.id), .integer(session.account), .blob(session.secret),
                .blob(session.previous), .text(session.provider), .text(session.claims),
                .integer(session.createdAt), .integer(session.usedAt), .init(session.factor),
            ])
    }

    func update(_ session: Session) throws(StoreError) {
        try transaction.execute(
            "UPDATE session SET secret = ?, previous = ?, claims = ?, usedAt = ? WHERE id = ?",
            [
                .blob(session.secret), .blob(session.previous), .text(session.claims),
                .integer(session.usedAt), .blob(session.id),
            ])
    }

    func delete(_ id: [UInt8]) throws(StoreError) {
        try transaction.execute("DELETE FROM session WHERE id = ?", [.blob(id)])
    }

    /// Ends all sessions of an account that began at or before `time`.
    func revokeAll(of account: Int64, begunBy time: Int64) throws(StoreError) {
        try transaction.execute(
            "UPDATE session SET isRevoked = 1 WHERE account = ? AND createdAt <= ?",
            [.integer(account), .integer(time)])
    }
}
