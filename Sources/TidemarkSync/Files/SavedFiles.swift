import TidemarkStore

/// The files of waiting and refused batches, as they survive a damaged cache: the part of
/// ``SavedQueue`` about files, of all users, in the form that the disk has.
struct SavedFiles {
    private var files: [[SQLValue]] = []
    private var removals: [[SQLValue]] = []
    /// Batch and turn.
    private var turns: [[SQLValue]] = []

    private static let fileColumns =
        """
        id, user, batch, state, document, field, bucket, name, size, facts, upload, completion,
        parent, networkRules
        """
    /// The columns of older files, the newest first, with the values that they do not have.
    private static let olderFileColumns = ["completion, parent, 0", "X'', 0, 0"].map {
        "id, user, batch, state, document, field, bucket, name, size, facts, upload, \($0)"
    }
    private static let removalColumns = "id, user, bucket, name, batch, document, field"

    init() {}

    /// Reads everything that is still readable in a damaged file. An older file has no such rows.
    init(salvaging path: String, key: StoreKeySource?) throws(StoreError) {
        for columns in [Self.fileColumns] + Self.olderFileColumns where files.isEmpty {
            files = try DocumentStore.salvage(
                "SELECT \(columns) FROM syncFile ORDER BY id", from: path, key: key)
        }
        removals = try DocumentStore.salvage(
            "SELECT \(Self.removalColumns) FROM syncObjectRemoval ORDER BY id", from: path,
            key: key)
        if removals.isEmpty {
            removals = try DocumentStore.salvage(
                "SELECT id, user, bucket, name, 0, '', X'' FROM syncObjectRemoval ORDER BY id",
                from: path, key: key)
        }
        turns = try DocumentStore.salvage(
            "SELECT batch, turn FROM syncTurn ORDER BY batch", from: path, key: key)
    }

    /// Replaces the readable turns by those in memory.
    mutating func replaceTurns(by known: [Int64: BatchTurn]) {
        turns.removeAll { row in
            if case .integer(let batch) = row[0] { known[batch] != nil } else { true }
        }
        turns += known.map { [.integer($0.key), .integer($0.value.stored)] }
    }

    /// Stores the rows in a new file, which has the batches already.
    func restore(_ transaction: StoreTransaction) throws {
        for row in files {
            try transaction.execute(
                """
                INSERT OR REPLACE INTO syncFile (\(Self.fileColumns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, row)
        }
        for row in removals {
            try transaction.execute(
                """
                INSERT OR REPLACE INTO syncObjectRemoval (\(Self.removalColumns))
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, row)
        }
        for row in turns {
            try transaction.execute("INSERT OR REPLACE INTO syncTurn VALUES (?, ?)", row)
        }
        // A turn that could not be read: a batch still waits for its files.
        try transaction.execute(
            """
            INSERT OR IGNORE INTO syncTurn
                SELECT DISTINCT batch, -1 FROM syncFile WHERE state IN (0, 2, 5)
            """)
        // A document that could not be read is not sent first: its file waits for nothing.
        try transaction.execute(
            """
            UPDATE syncFile SET state = 0
            WHERE state = 5 AND parent NOT IN (SELECT id FROM syncBatch)
            """)
    }
}
