import TidemarkModel
import TidemarkStore

/// The content that must survive a damaged cache: waiting writes, refused writes, and the notes
/// about batches of other stores and processes. The rows of all users are included, in the form
/// that the disk has.
struct SavedQueue {
    var batches: [[SQLValue]] = []
    var rejected: [[SQLValue]] = []
    /// The rows of ``MovedMarks``: key and value.
    var marks: [[SQLValue]] = []
    /// The batches that other processes left: name and number.
    var shared: [[SQLValue]] = []
    var files = SavedFiles()

    static let batchColumns = "id, localWriteTime, baseMutations, mutations, user"
    static let rejectedColumns =
        "id, user, localWriteTime, mutations, code, message, rejectedAt"

    init() {}

    /// Reads everything that is still readable in a damaged file.
    ///
    /// - Throws: An error if the key of the file is not available now.
    init(salvaging path: String, key: StoreKeySource?) throws(StoreError) {
        batches = try DocumentStore.salvage(
            "SELECT \(Self.batchColumns) FROM syncBatch ORDER BY id", from: path, key: key)
        if batches.isEmpty {
            // The file may be older than the users of batches.
            batches = try DocumentStore.salvage(
                """
                SELECT id, localWriteTime, baseMutations, mutations, X'' FROM syncBatch ORDER BY id
                """, from: path, key: key)
        }
        rejected = try DocumentStore.salvage(
            "SELECT \(Self.rejectedColumns) FROM syncRejected ORDER BY id", from: path, key: key)
        marks = try DocumentStore.salvage(MovedMarks.all, from: path, key: key)
        shared = try DocumentStore.salvage(
            "SELECT name, batch FROM syncShared", from: path, key: key)
        files = try SavedFiles(salvaging: path, key: key)
    }

    /// Replaces the readable batches of a user by the batches in memory.
    mutating func replace(_ user: String?, with queue: [WaitingBatch]) {
        let owner = SQLValue.blob(UserKey(user).bytes)
        batches.removeAll { $0[4] == owner }
        batches += queue.map { batch in
            let encoded = batch.encoded
            return [
                .integer(batch.id), .integer(batch.localWriteTime.microseconds),
                .blob(encoded.base), .blob(encoded.mutations), owner,
            ]
        }
    }

    /// Stores the content in a new file.
    func insert(_ transaction: StoreTransaction) throws {
        for row in batches {
            try transaction.execute(
                "INSERT INTO syncBatch (\(Self.batchColumns)) VALUES (?, ?, ?, ?, ?)", row
            )
        }
        for row in rejected {
            try transaction.execute(
                """
                INSERT INTO syncRejected (\(Self.rejectedColumns))
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, row)
        }
        for row in marks {
            try transaction.execute("INSERT OR REPLACE INTO syncRecord VALUES (?, ?)", row)
        }
        for row in shared {
            try transaction.execute("INSERT OR REPLACE INTO syncShared VALUES (?, ?)", row)
        }
        try files.restore(transaction)
    }
}

extension LocalStore {
    /// Opens the cache. A damaged cache is set aside, and the readable part of its queue is stored
    /// in a new cache.
    static func opening(
        _ location: DocumentStore.Location, database: DatabaseID, user: String?,
        key: StoreKeySource? = nil, fault: SyncEnvironment.StorageFaultSource?
    ) throws -> LocalStore {
        do {
            return try LocalStore(location, database: database, user: user, key: key, fault: fault)
        } catch {
            guard case .damaged? = StorageFault(error), case .file(let path) = location else {
                throw error
            }
            return try renewed(path, database: database, user: user, key: key, fault: fault)
        }
    }

    /// Returns a new cache in the place of a damaged and closed one.
    static func renewed(
        _ path: String, database: DatabaseID, user: String?,
        key: StoreKeySource? = nil, fault: SyncEnvironment.StorageFaultSource?
    ) throws -> LocalStore {
        let saved = try SavedQueue(salvaging: path, key: key)
        try DocumentStore.setAside(path)
        let new = try LocalStore(
            .file(path), database: database, user: user, key: key, fault: fault)
        try new.queue.restore(saved, nil)
        return new
    }
}
