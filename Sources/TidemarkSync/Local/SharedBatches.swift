import TidemarkModel
import TidemarkStore

/// A note that the transaction of a queued batch stores, so the batch is queued only once.
enum BatchNote: Hashable, Sendable {
    /// A batch of another store: ``MovedBatch``.
    case moved(String)
    /// A batch that another process left in the cache's inbox, by its name there.
    case shared(String)

    func write(of batch: Int64, _ transaction: StoreTransaction) throws {
        switch self {
        case .moved(let mark): try MovedMarks.add(mark, transaction)
        case .shared(let name): try SharedBatches.add(name, batch: batch, transaction: transaction)
        }
    }
}

/// The outcome of a batch.
enum BatchFate: Equatable, Sendable {
    /// The batch is in the queue.
    case pending
    case committed(Timestamp)
    case rejected(RPCStatus)
    /// The batch is not in the queue, and its record was deleted.
    case unknown
}

/// The batches of other processes, and the outcomes of the last batches of all processes.
enum SharedBatches {
    /// The maximum number of stored batches.
    static let most = 1_000

    static func add(_ name: String, batch: Int64, transaction: StoreTransaction) throws {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncShared VALUES (?, ?)", [.text(name), .integer(batch)])
        try transaction.execute(
            """
            DELETE FROM syncShared WHERE name IN (
                SELECT name FROM syncShared ORDER BY batch DESC LIMIT -1 OFFSET ?)
            """, [.integer(Int64(most))])
    }

    static func number(of name: String, _ transaction: StoreTransaction) throws -> Int64? {
        try transaction.rows("SELECT batch FROM syncShared WHERE name = ?", [.text(name)])
            .first?.integer(0)
    }

    static func note(
        _ batch: Int64, committed time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncDone VALUES (?, ?)",
            [.integer(batch), .integer(time.microseconds)])
        try transaction.execute(
            "DELETE FROM syncDone WHERE batch <= ?", [.integer(batch - Int64(most))])
    }

    static func commitTime(of batch: Int64, _ transaction: StoreTransaction) throws -> Timestamp? {
        try transaction.rows("SELECT commitTime FROM syncDone WHERE batch = ?", [.integer(batch)])
            .first.map { Timestamp(microseconds: try $0.integer(0)) }
    }
}
