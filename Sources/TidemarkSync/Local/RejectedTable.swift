import TidemarkModel
import TidemarkStore

/// The refused writes of one user. They stay on disk with the reason until the app decides.
struct RejectedTable {
    /// The maximum number of refused writes. Beyond it, the oldest is deleted.
    static let most = 1000

    let user: String?

    private var owner: SQLValue { .blob(UserKey(user).bytes) }

    func keep(
        _ batch: MutationBatch, reason: RPCStatus, at time: Timestamp,
        transaction: StoreTransaction
    ) throws {
        try keep(
            batch.id, localWriteTime: batch.localWriteTime.microseconds,
            mutations: MutationCodec.encode(batch.mutations),
            reason: reason, at: time, transaction: transaction)
    }

    func keep(
        _ id: Int64, localWriteTime: Int64, mutations: [UInt8], reason: RPCStatus,
        at time: Timestamp, transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncRejected VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(id), owner, .integer(localWriteTime), .blob(mutations),
                .integer(Int64(reason.code.rawValue)), .text(reason.message),
                .integer(time.microseconds),
            ])
        try transaction.execute(
            """
            DELETE FROM syncRejected WHERE id IN (
                SELECT id FROM syncRejected WHERE user = ? ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [owner, .integer(Int64(Self.most))])
    }

    func count(_ transaction: StoreTransaction) throws -> Int {
        let rows = try transaction.rows(
            "SELECT count(*) FROM syncRejected WHERE user = ?", [owner])
        return try Int(rows[0].integer(0))
    }

    func all(_ transaction: StoreTransaction) throws -> [RejectedWrite] {
        try transaction.rows(
            """
            SELECT id, localWriteTime, mutations, code, message, rejectedAt FROM syncRejected
            WHERE user = ? ORDER BY id
            """, [owner]
        ).map { row in
            try RejectedWrite(
                batch: row.integer(0), time: Timestamp(microseconds: row.integer(1)),
                mutations: (try? MutationCodec.decode(row.blob(2))) ?? [],
                rejectedAt: Timestamp(microseconds: row.integer(5)),
                reason: Self.reason(code: row.integer(3), row.text(4)))
        }
    }

    /// Returns the reason why a batch was refused; nil if it was not refused or if the record was
    /// deleted.
    func reason(of id: Int64, _ transaction: StoreTransaction) throws -> RPCStatus? {
        try transaction.rows(
            "SELECT code, message FROM syncRejected WHERE id = ? AND user = ?",
            [.integer(id), owner]
        ).first.map { try Self.reason(code: $0.integer(0), $0.text(1)) }
    }

    private static func reason(code: Int64, _ message: String) -> RPCStatus {
        RPCStatus(RPCStatus.Code(rawValue: Int32(clamping: code)) ?? .unknown, message)
    }

    func discard(_ id: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            "DELETE FROM syncRejected WHERE id = ? AND user = ?", [.integer(id), owner])
    }
}
