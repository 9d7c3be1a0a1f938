public import Tidemark

/// The history of a query, page by page into the cache: a source and, because what is read from the
/// server is stored as it comes, its own sink.
///
/// From when it begins, the cache keeps the documents of the query's collection, however large it is.
/// A page is read with the time of the server, and costs a read a row, at least one. Items that are
/// changed later are not its business: a feed or a listener sees those.
public struct QueryHistory: BackfillSource, BackfillSink {
    /// How many rows were stored.
    public typealias Items = Int

    private let firestore: Firestore
    private let itemTime: FieldPath
    private let pages: HistoryPages
    private let record: BackfillRecord

    /// - Parameters:
    ///   - query: Of one collection, without an order, a limit or a cursor: those are set here.
    ///   - field: The items' time, a timestamp. Documents without it are no part of the history.
    ///   - name: Of the job: under it, what is covered is remembered.
    ///   - pageSize: 1 to 1,000 rows.
    /// - Throws: `invalidArgument` when that makes no sense.
    public init(
        _ query: Query, itemTime field: some FieldName, name: String, pageSize: Int = 300
    ) throws(FirestoreError) {
        guard (1...1_000).contains(pageSize) else {
            throw .invalidArgument("A page holds 1 to 1,000 rows, not \(pageSize).")
        }
        let value = try query.runnable()
        guard value.orders.isEmpty, value.limit == nil, value.start == nil, value.end == nil else {
            throw .invalidArgument("A history sets the order, the limit and the cursors by itself.")
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
    /// Nothing: what came from the server is in the cache already.
    public func store(_ items: Int) async throws(BackfillFailure) {}
    /// Nothing: the server has it.
    public func upload(_ items: Int) async throws(BackfillFailure) -> Int { 0 }
    public func cover(_ coverage: Coverage) async throws(BackfillFailure) {
        try await record.save(coverage)
    }
}
