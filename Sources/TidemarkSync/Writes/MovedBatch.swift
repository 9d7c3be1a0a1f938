package import TidemarkModel
import TidemarkStore

/// A batch of writes from another store, which is queued once.
package struct MovedBatch: Sendable {
    package var mutations: [Mutation]
    /// The time of the batch; nil for now.
    package var time: Timestamp?
    /// A mark that no other batch has.
    package var mark: String
    /// The user who made the writes.
    package var user: String?

    package init(mutations: [Mutation], time: Timestamp?, mark: String, user: String?) {
        precondition(!mutations.isEmpty && !mark.isEmpty, "a batch of something, and known again")
        self.mutations = mutations
        self.time = time
        self.mark = mark
        self.user = user
    }
}

/// Marks which batches of another store were queued. Each has a record, written in the transaction
/// that queues the batch. The records stay after the batch is done.
enum MovedMarks {
    private static let prefix = "moved/"
    /// The keys and values of all marks.
    static let all = "SELECT key, value FROM syncRecord WHERE key >= 'moved/' AND key < 'moved0'"

    static func key(of mark: String) -> String { prefix + mark }

    static func add(_ mark: String, _ transaction: StoreTransaction) throws {
        try LocalRecords.set([1], forKey: key(of: mark), transaction)
    }
}
