public import Tidemark

/// A row of a list of values, and the state of the writes to it.
public struct PagerItem<Value: Sendable>: Identifiable, Sendable {
    /// The delivery state of a row.
    public enum Delivery: Hashable, Sendable {
        case delivered
        /// The write of this device is journalled and not yet acknowledged: "sending…".
        case pending
        /// The server refused the write. ``TypedPagerModel/retry(_:)`` sends it again,
        /// ``TypedPagerModel/discard(_:)`` forgets it.
        case failed(FirestoreError)
    }

    /// The document's path.
    public let id: String
    public let value: Value
    public let delivery: Delivery
    /// The batch of the refused write.
    let batch: Int64?

    public var isPending: Bool { delivery == .pending }
    public var isFailed: Bool { failure != nil }
    /// The reason why the server refused the write; nil if it did not.
    public var failure: FirestoreError? {
        if case .failed(let error) = delivery { error } else { nil }
    }
}

/// The change of a list's scroll position after its rows change.
public enum PagerScroll: Hashable, Sendable {
    /// The position stays: rows changed at their places.
    case stay
    /// Older rows arrived above. The oldest row before, which has this id, keeps its place on the
    /// screen.
    case keep(String)
    /// New rows arrived at the end. The list scrolls to them if the user is at the end, or if the
    /// new message is the user's own.
    case toNewest(isOwn: Bool)
}

/// The refused writes to a pager's documents.
struct FailedWrites: Sendable {
    struct Failure: Sendable {
        let batch: Int64
        let error: FirestoreError
        /// The document with the refused write; nil if the write only changed or deleted a
        /// document.
        let document: QueryDocumentSnapshot?
        let position: PagePosition?
    }

    private let firestore: Firestore
    private let query: QueryValue
    private let order: FieldPath
    private let prepared: PreparedQuery

    init?(_ pager: Pager) {
        guard let value = try? pager.pagedQuery.runnable() else { return nil }
        firestore = pager.pagedQuery.firestore
        query = value
        order = pager.orderField
        prepared = PreparedQuery(value, in: firestore.databaseID)
    }

    /// The state of the write queue, now and after each change, with the number of refused writes.
    var counts: AsyncStream<WriteQueueState> { firestore.writeQueueStates }

    /// Returns the refused writes by path; the last write if a document has several. Costs no
    /// reads.
    func all() async -> [DocumentPath: Failure] {
        guard let rejected = try? await firestore.rejectedWrites() else { return [:] }
        var result: [DocumentPath: Failure] = [:]
        for write in rejected {
            for mutation in write.mutations where mutation.path.parent == query.collection {
                result[mutation.path] = failure(mutation, write)
            }
        }
        return result
    }

    private func failure(_ mutation: Mutation, _ write: RejectedWrite) -> Failure {
        let error = FirestoreError(write.reason)
        guard case .set = mutation.operation else {
            return Failure(batch: write.batch, error: error, document: nil, position: nil)
        }
        let outcome = mutation.applied(to: nil) { _ in .timestamp(write.time) }
        guard let fields = outcome.fields, prepared.matches(mutation.path, fields),
            let value = fields[order]
        else { return Failure(batch: write.batch, error: error, document: nil, position: nil) }
        let document = Document(
            path: mutation.path, fields: fields, createTime: write.time, updateTime: write.time)
        return Failure(
            batch: write.batch, error: error,
            document: firestore.cachedSnapshot(of: ViewDocument(document)),
            position: PagePosition(value: value, path: mutation.path))
    }

    func position(of document: QueryDocumentSnapshot) -> PagePosition? {
        document.fields?[order].map { PagePosition(value: $0, path: document.documentPath) }
    }

    func retry(_ batch: Int64) async throws(FirestoreError) {
        _ = try await firestore.retryRejectedWrite(batch)
    }

    func discard(_ batch: Int64) async throws(FirestoreError) {
        try await firestore.discardRejectedWrite(batch)
    }
}
