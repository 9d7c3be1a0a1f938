import TidemarkModel
import TidemarkStore

/// What must not go down with a damaged cache: writes that wait, those that were refused, and what of another
/// store or process was queued. Rows as they are on disk, whoever's they are.
struct SavedQueue {
    var batches: [[SQLValue]] = []
    var rejected: [[SQLValue]] = []
    /// ``MovedMarks``: key and value.
    var marks: [[SQLValue]] = []
    /// Of batches that other processes left: name and number.
    var shared: [[SQLValue]] = []

    static let batchColumns = "id, localWriteTime, baseMutations, mutations, user"
    static let rejectedColumns =
        "id, user, localWriteTime, mutations, code, message, rejectedAt"

    init() {}

    /// What can still be read of a damaged file.
    ///
    /// - Throws: Where its key cannot be given now.
    init(salvaging path: String, key: StoreKeySource?) throws(StoreError) {
        batches = try DocumentStore.salvage(
            "SELECT \(Self.batchColumns) FROM syncBatch ORDER BY id", from: path, key: key)
        if batches.isEmpty {
            // Of a file from before batches had users.
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
    }

    /// Takes what is in memory for what can be read of the same user.
    mutating func replace(_ user: String?, with queue: [MutationBatch]) {
        let owner = SQLValue.blob(UserKey(user).bytes)
        batches.removeAll { $0[4] == owner }
        batches += queue.map { batch in
            [
                .integer(batch.id), .integer(batch.localWriteTime.microseconds),
                .blob(MutationCodec.encode(batch.baseMutations)),
                .blob(MutationCodec.encode(batch.mutations)), owner,
            ]
        }
    }
}

extension LocalStore {
    /// Opens the cache. One that is damaged is set aside, with what can be read of its queue taken over
    /// into a new one.
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

    /// A new cache in the place of one that is damaged, which is closed.
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
