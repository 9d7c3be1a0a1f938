public import Tidemark

/// The history of a query, read page by page into the cache. It is a source and also its own sink,
/// because the client stores the rows of the server when they arrive.
///
/// From its begin, the cache keeps the documents of the query's collection, regardless of their
/// number. A page is read at a time of the server, and costs a read per row, at least one. Later
/// changes of items are not included: a feed or a listener shows them.
public struct QueryHistory: BackfillSource, BackfillSink {
    /// The number of stored rows.
    public typealias Items = Int

    private let firestore: Firestore
    private let itemTime: FieldPath
    private let pages: HistoryPages
    private let record: BackfillRecord

    /// - Parameters:
    ///   - query: The query of a single collection, without an order, a limit or a cursor: they are
    ///     set here.
    ///   - field: The items' time, a timestamp. Documents without the field are no part of the
    ///     history.
    ///   - name: The name of the job, under which the coverage is stored.
    ///   - pageSize: The rows of a page, 1 to 1,000.
    /// - Throws: `invalidArgument` if the arguments do not fit together.
    public init(
        _ query: Query, itemTime field: some FieldName, name: String, pageSize: Int = 300
    ) throws(FirestoreError) {
        guard (1...1_000).contains(pageSize) else {
            throw .invalidArgument("A page must have 1 to 1,000 rows, not \(pageSize).")
        }
        let value = try query.runnable()
        guard value.orders.isEmpty, value.limit == nil, value.start == nil, value.end == nil else {
            throw .invalidArgument("The query of a history must have no order, limit or cursor.")
        }
        firestore = query.firestore
        itemTime = try field.resolved()
        pages = HistoryPages(value, itemTime: itemTime, size: pageSize)
        record = BackfillRecord(firestore, name: name, keeping: value)
    }

    public func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<Int> {
        let snapshot: QuerySnapshot
        do throws(FirestoreError) {
            let request = pages.request(range, in: firestore.databaseID)
            snapshot = try await Query(firestore, request).getDocuments(source: .server)
        } catch {
            throw BackfillFailure(error)
        }
        guard let asOf = snapshot.readTime else {
            throw .transient("the server did not say as of when it answered")
        }
        let documents = snapshot.documents
        let last = documents.last.map { (time: $0.fields?[itemTime], path: $0.documentPath) }
        let reached = try pages.reached(range, count: documents.count, last: last)
        return BackfillPart(
            documents.count, reached: reached, asOf: asOf, samples: documents.count,
            bytes: 0, reads: max(1, documents.count))
    }

    public func coverage() async throws(BackfillFailure) -> Coverage {
        try await record.coverage()
    }
    /// Does nothing: rows of the server are already in the cache.
    public func store(_ items: Int) async throws(BackfillFailure) {}
    /// Does nothing: the server already has the rows.
    public func upload(_ items: Int) async throws(BackfillFailure) -> Int { 0 }
    public func cover(_ coverage: Coverage) async throws(BackfillFailure) {
        try await record.save(coverage)
    }
}
