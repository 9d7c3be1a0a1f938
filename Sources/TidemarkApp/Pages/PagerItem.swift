public import Tidemark

/// One row of a list of values, and what became of what was written in it.
public struct PagerItem<Value: Sendable>: Identifiable, Sendable {
    /// Whether the server has what is shown.
    public enum Delivery: Hashable, Sendable {
        case delivered
        /// Written on this device, journalled, and not yet acknowledged: "sending…".
        case pending
        /// The server refused it. ``TypedPagerModel/retry(_:)`` sends it again,
        /// ``TypedPagerModel/discard(_:)`` forgets it.
        case failed(FirestoreError)
    }

    /// The document's path.
    public let id: String
    public let value: Value
    public let delivery: Delivery
    /// Of the refused write.
    let batch: Int64?

    public var isPending: Bool { delivery == .pending }
    public var isFailed: Bool { if case .failed = delivery { true } else { false } }
}

/// What a list does with its position when its rows change.
public enum PagerScroll: Hashable, Sendable {
    /// Nothing: rows changed where they are.
    case stay
    /// Older rows came above: this row, the oldest before, stays where it was on the screen.
    case keep(String)
    /// New rows came at the end. Someone at the end follows; to one's own message everybody goes.
    case toNewest(isOwn: Bool)
}

/// What the server refused of a pager's documents.
struct FailedWrites: Sendable {
    struct Failure: Sendable {
        let batch: Int64
        let error: FirestoreError
        /// As it would have been; nil where a document was only to be changed or deleted.
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

    /// How many were refused, now and each time that changes.
    var counts: AsyncStream<WriteQueueState> { firestore.writeQueueStates }

    /// By path; of several for one document the last. Costs no reads.
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
