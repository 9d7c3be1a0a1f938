import TidemarkStore

/// The resumable uploads.
struct UploadTable {
    /// The maximum number of stored uploads. Above it, the oldest that have ended are removed.
    static let maxUploads = 20_000

    let transaction: StoreTransaction

    func insert(_ session: UploadSession) throws {
        try transaction.execute(
            """
            INSERT INTO upload (key, dialect, blob, declared, received, phase, startedAt, \
            updatedAt, plan) VALUES (?, ?, ?, ?, 0, 0, ?, ?, ?)
            """,
            [
                .blob(session.key), .integer(session.dialect.rawValue), .text(session.blob.text),
                session.declared.map { .integer($0) } ?? .null, .integer(session.startedAt),
                .integer(session.startedAt), .text(try StoredJSON.text(session.plan)),
            ])
    }

    func upload(_ key: [UInt8]) throws -> (session: UploadSession, machine: UploadMachine)? {
        let rows = try transaction.rows(
            """
            SELECT key, dialect, blob, declared, received, phase, generation, refusal, startedAt, \
            plan FROM upload WHERE key = ?
            """, [.blob(key)])
        guard let row = rows.first else { return nil }
        guard let dialect = UploadDialect(rawValue: try row.integer(1)),
            let blob = BlobID(try row.text(2))
        else { throw StoreError.corrupt(detail: "the row of an upload") }
        let session = UploadSession(
            key: try row.blob(0), dialect: dialect, blob: blob,
            declared: row.isNull(3) ? nil : try row.integer(3), startedAt: try row.integer(8),
            plan: try StoredJSON.value(row.text(9)))
        let phase: UploadMachine.Phase =
            switch try row.integer(5) {
            case 1: .final(generation: try row.integer(6))
            case 2: .refused(try StoredJSON.value(row.text(7)))
            case 3: .cancelled
            default: .idle
            }
        return (
            session,
            UploadMachine(
                dialect: dialect, declared: session.declared, received: try row.integer(4),
                phase: phase)
        )
    }

    /// Stores the position and the phase. A request at work is not stored.
    func save(_ machine: UploadMachine, of key: [UInt8], now: Int64) throws {
        var (phase, generation, refusal) = (Int64(0), SQLValue.null, SQLValue.null)
        switch machine.phase {
        case .final(let made): (phase, generation) = (1, .integer(made))
        case .refused(let reason): (phase, refusal) = (2, .text(try StoredJSON.text(reason)))
        case .cancelled: phase = 3
        default: break
        }
        try transaction.execute(
            """
            UPDATE upload SET received = ?, phase = ?, generation = ?, refusal = ?, updatedAt = ?
            WHERE key = ?
            """,
            [
                .integer(machine.received), .integer(phase), generation, refusal, .integer(now),
                .blob(key),
            ])
    }

    /// Removes uploads that began before a time, and the oldest ended uploads above the limit.
    ///
    /// - Parameter busy: The uploads that have a request at work, which stay.
    /// - Returns: The blobs of removed open uploads.
    func removeOld(before time: Int64, except busy: Set<[UInt8]>) throws -> [BlobID] {
        let old = try transaction.rows(
            """
            SELECT key, blob, phase FROM upload WHERE startedAt < ? ORDER BY startedAt LIMIT 1000
            """, [.integer(time)])
        var blobs: [BlobID] = []
        for row in old where try !busy.contains(row.blob(0)) {
            if try row.integer(2) == 0, let blob = BlobID(try row.text(1)) { blobs.append(blob) }
            try transaction.execute("DELETE FROM upload WHERE key = ?", [.blob(try row.blob(0))])
        }
        let most = try count() - Int64(Self.maxUploads)
        if most > 0 {
            try transaction.execute(
                """
                DELETE FROM upload WHERE key IN (
                    SELECT key FROM upload WHERE phase <> 0 ORDER BY startedAt LIMIT ?)
                """, [.integer(most)])
        }
        return blobs
    }

    func count(where condition: String = "1") throws -> Int64 {
        try transaction.rows("SELECT COUNT(*) FROM upload WHERE \(condition)")[0].integer(0)
    }

    /// Returns the open uploads, the latest first.
    func open(limit: Int) throws -> [OpenUpload] {
        try transaction.rows(
            """
            SELECT plan, received, declared, startedAt, updatedAt FROM upload WHERE phase = 0
            ORDER BY startedAt DESC LIMIT ?
            """, [.integer(Int64(limit))]
        ).map { row in
            let plan: UploadPlan = try StoredJSON.value(row.text(0))
            return OpenUpload(
                path: plan.path, received: try row.integer(1),
                declared: row.isNull(2) ? nil : try row.integer(2),
                startedAt: try row.integer(3), updatedAt: try row.integer(4),
                userID: plan.caller.userID)
        }
    }
}
