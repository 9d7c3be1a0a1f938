package import TidemarkModel
import TidemarkStore

/// A batch of writes that another store held, to be queued once.
package struct MovedBatch: Sendable {
    package var mutations: [Mutation]
    /// When it was made; nil for now.
    package var time: Timestamp?
    /// Its own: no other batch has the same.
    package var mark: String
    /// Whose writes they are.
    package var user: String?

    package init(mutations: [Mutation], time: Timestamp?, mark: String, user: String?) {
        precondition(!mutations.isEmpty && !mark.isEmpty, "a batch of something, and known again")
        self.mutations = mutations
        self.time = time
        self.mark = mark
        self.user = user
    }
}

/// Which batches of another store were queued: a record for each, written in the transaction that
/// queues the batch. They stay when the batch is done.
enum MovedMarks {
    private static let prefix = "moved/"
    /// Keys and values of all.
    static let all = "SELECT key, value FROM syncRecord WHERE key >= 'moved/' AND key < 'moved0'"

    static func key(of mark: String) -> String { prefix + mark }

    static func add(_ mark: String, _ transaction: StoreTransaction) throws {
        try LocalRecords.set([1], forKey: key(of: mark), transaction)
    }
}
