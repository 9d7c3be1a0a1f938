import TidemarkModel

/// A query as a key: by the bytes of its canonical form, so that equal text of other bytes is
/// another.
struct QueryKey: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ query: Query) {
        var explicit = query
        explicit.orders = query.normalizedOrders
        bytes = Array(explicit.canonicalID.utf8)
    }

    /// What a bundle holds, as if it were a query's result. No query's form begins with a zero.
    init(bundle id: String) { bytes = [0] + Array(id.utf8) }
}

/// A query that was open already, as another user's cache has it.
struct ReopenedQuery {
    let target: LocalTarget
    let documents: [LocalDocument]
    /// The rows of its target.
    let synced: Set<DocumentPath>
}

/// What is kept of a target between listens.
struct LocalTarget: Equatable, Sendable {
    let id: Int32
    let key: QueryKey
    /// Empty when there is none.
    var resumeToken: [UInt8] = []
    /// Of the token; without one, as of when a bundle had the result.
    var snapshotVersion = Timestamp.epoch
    /// When the server last confirmed the whole result; nil for never.
    var confirmed: Timestamp?
    var sequence: Int64

    /// Whether an event is worth a write of the token: one that is a little old costs little, and a
    /// write for every snapshot costs a lot.
    ///
    /// Source: `core/local/local_store.cc`, `ShouldPersistTargetData`.
    func shouldPersist(over old: LocalTarget, hasChanges: Bool) -> Bool {
        old.resumeToken.isEmpty || hasChanges
            || snapshotVersion.duration(since: old.snapshotVersion) >= .seconds(300)
    }
}
