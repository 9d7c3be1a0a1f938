import TidemarkModel

/// A query as a key: by the bytes of its canonical form, so that equal text of other bytes is
/// another.
struct QueryKey: Hashable, Sendable {
    private let form: Form

    /// A class: who asks for the same query again has the same one, so that most comparisons see no text.
    private final class Form: Sendable {
        let text: String
        /// The hash of the bytes, taken once: a listen looks for its query a dozen times.
        let digest: Int

        init(_ text: String) {
            self.text = text
            var hasher = Hasher()
            text.hashBytes(into: &hasher)
            digest = hasher.finalize()
        }
    }

    init(_ query: Query) { self.init(query.canonicalID(orders: query.normalizedOrders)) }

    /// What a bundle holds, as if it were a query's result. No query's form begins with a zero.
    init(bundle id: String) { self.init("\0" + id) }

    private init(_ text: String) { form = Form(text) }

    var bytes: [UInt8] { Array(form.text.utf8) }

    static func == (left: QueryKey, right: QueryKey) -> Bool {
        let (a, b) = (left.form, right.form)
        return a === b || (a.digest == b.digest && a.text.hasSameBytes(as: b.text))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(form.digest) }
}

/// A query that somebody begins to listen to, or whose cache is exchanged for another one.
struct OpenedQuery {
    let targetID: Int32
    let resumeToken: [UInt8]
    /// In the query's order.
    let documents: [LocalDocument]
    /// The documents of its target; nil where they have not been read.
    let synced: Set<DocumentPath>?

    init(_ target: LocalTarget, _ documents: [LocalDocument], synced: Set<DocumentPath>?) {
        targetID = target.id
        resumeToken = target.resumeToken
        self.documents = documents
        self.synced = synced
    }
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

    /// Up to when the server has told of it; the epoch where it has not, as with what a bundle brought.
    var serverVersion: Timestamp { resumeToken.isEmpty ? .epoch : snapshotVersion }

    /// Whether nothing is known of it, so that there is nothing to keep.
    var isBlank: Bool { resumeToken.isEmpty && snapshotVersion == .epoch && confirmed == nil }

    /// Whether they differ in their use at most.
    func isSame(as other: LocalTarget) -> Bool {
        var other = other
        other.sequence = sequence
        return self == other
    }

    /// Whether an event is worth a write of the token: one that is a little old costs little, and a
    /// write for every snapshot costs a lot.
    ///
    /// Source: `core/local/local_store.cc`, `ShouldPersistTargetData`.
    func shouldPersist(over old: LocalTarget, hasChanges: Bool) -> Bool {
        old.resumeToken.isEmpty || hasChanges
            || snapshotVersion.duration(since: old.snapshotVersion) >= .seconds(300)
    }
}

/// A target as it was left. A class, because it goes through several hands with every listen.
final class KeptTarget: Sendable {
    let target: LocalTarget
    /// Whether the disk has it, or an older state of it.
    let isStored: Bool

    init(_ target: LocalTarget, isStored: Bool = true) {
        self.target = target
        self.isStored = isStored
    }
}
