import TidemarkModel

/// A query as a key. The key compares the bytes of the query's canonical form, so equal text with
/// different bytes makes different keys.
struct QueryKey: Hashable, Sendable {
    private let form: Form

    /// The form is a class: equal queries usually share one object, so most comparisons read no
    /// text.
    private final class Form: Sendable {
        let text: String
        /// The hash of the bytes. It is stored because a listen looks for its query a dozen times.
        let digest: Int

        init(_ text: String) {
            self.text = text
            var hasher = Hasher()
            text.hashBytes(into: &hasher)
            digest = hasher.finalize()
        }
    }

    init(_ query: Query) { self.init(query.targetText) }

    /// Creates the key of a stored target.
    init(stored text: String) { form = Form(text) }

    /// Creates the key for the content of a bundle, as if it were a query's result. No query's form
    /// begins with a zero.
    init(bundle id: String) { self.init("\0" + id) }

    private init(_ text: String) { form = Form(text) }

    var bytes: [UInt8] { Array(form.text.utf8) }

    static func == (left: QueryKey, right: QueryKey) -> Bool {
        let (a, b) = (left.form, right.form)
        return a === b || (a.digest == b.digest && a.text.hasSameBytes(as: b.text))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(form.digest) }
}

/// A query at the begin of a listen, or after its cache was exchanged for another one.
struct OpenedQuery {
    let targetID: Int32
    let resumeToken: [UInt8]
    /// The rows in the query's order.
    let documents: [LocalDocument]
    /// The documents of the query's target; nil if they were not read.
    let synced: Set<DocumentPath>?

    init(_ target: LocalTarget, _ documents: [LocalDocument], synced: Set<DocumentPath>?) {
        targetID = target.id
        resumeToken = target.resumeToken
        self.documents = documents
        self.synced = synced
    }
}

/// The content that is stored of a target between listens.
struct LocalTarget: Equatable, Sendable {
    let id: Int32
    let key: QueryKey
    /// The resume token; empty if there is none.
    var resumeToken: [UInt8] = []
    /// The version of the token. Without a token, the time at which a bundle or a page had the
    /// result.
    var snapshotVersion = Timestamp.epoch
    /// The time at which the server last confirmed the whole result; nil for never.
    var confirmed: Timestamp?
    var sequence: Int64

    /// The version up to which the server has reported; the epoch if it has not, as for the content
    /// of a bundle.
    var serverVersion: Timestamp { resumeToken.isEmpty ? .epoch : snapshotVersion }

    /// True if nothing is known of the target, so there is nothing to store.
    var isBlank: Bool { resumeToken.isEmpty && snapshotVersion == .epoch && confirmed == nil }

    /// True if the two targets differ only in their last use.
    func isSame(as other: LocalTarget) -> Bool {
        var other = other
        other.sequence = sequence
        return self == other
    }

    /// True if an event is worth a write of the token. A slightly old token costs little, and a
    /// write for every snapshot costs much.
    ///
    /// Source: `core/local/local_store.cc`, `ShouldPersistTargetData`.
    func shouldPersist(over old: LocalTarget, hasChanges: Bool) -> Bool {
        old.resumeToken.isEmpty || hasChanges
            || snapshotVersion.duration(since: old.snapshotVersion) >= .seconds(300)
    }
}

/// The state of a target after its last use. This is a class because every listen hands it through
/// several functions.
final class KeptTarget: Sendable {
    let target: LocalTarget
    /// True if the disk has the target, or an older state of it.
    let isStored: Bool

    init(_ target: LocalTarget, isStored: Bool = true) {
        self.target = target
        self.isStored = isStored
    }
}
