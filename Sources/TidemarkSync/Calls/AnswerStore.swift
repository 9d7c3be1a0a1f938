import TidemarkModel
import TidemarkStore

/// Stores the replies of calls, updates the views, and makes the results for readers.
// @unchecked: used only on the engine's executor, like the engine.
final class AnswerStore: @unchecked Sendable {
    typealias Completion = @Sendable (Result<ReadResult, SyncError>) -> Void

    private let context: EngineContext
    private let storage: CacheStorage
    private let views: QueryViews

    init(_ context: EngineContext, storage: CacheStorage, views: QueryViews) {
        self.context = context
        self.storage = storage
        self.views = views
    }

    // MARK: Documents

    /// Stores the reply to a read of one document.
    func store(_ replies: [Reply]) throws -> ReadResult {
        for case .batchGetDocuments(let reply) in replies {
            guard let row = reply.row else { continue }
            let document: RemoteDocument
            let path: DocumentPath
            switch row {
            case .found(let found): (document, path) = (.found(found), found.path)
            case .missing(let missing):
                (document, path) = (.missing(missing, reply.readTime), missing)
            }
            try apply([document], reply.readTime)
            let shown = try storage.local.documents.document(at: path).viewDocument
            return ReadResult(
                documents: shown.map { [$0] } ?? [], freshness: .fresh(readTime: reply.readTime))
        }
        throw SyncError.server(RPCStatus(.internal, "The server sent no result."))
    }

    private func apply(_ documents: [RemoteDocument], _ readTime: Timestamp) throws {
        let changed = try storage.local.remote.apply(documents, readTime: readTime)
        views.refresh(changed, awaiting: readTime)
    }

    // MARK: Rows of a query

    /// Returns a query's rows in order, with their read time.
    func rows(
        _ answer: LongRead.Answer, of query: Query
    ) -> (documents: [Document], readTime: Timestamp) {
        var documents = answer.documents
        if case .last = query.limit { documents.reverse() }
        // A server without a read time is assumed to be as current as its newest document.
        let newest = documents.map(\.updateTime).max() ?? storage.local.targets.lastVersion
        return (documents, answer.readTime ?? newest)
    }

    /// Stores rows, together with records.
    ///
    /// - Parameters:
    ///   - unstored: The rows that are not stored yet.
    ///   - kept: A query whose documents stay in the cache, whatever its size.
    ///   - complete: A query that the rows confirm as complete.
    ///   - part: A query whose other documents in the cache are removed.
    ///   - followed: A query to which a listener goes on from `readTime`.
    /// - Returns: The documents that changed.
    @discardableResult
    func store(
        _ documents: [Document], unstored: [Document], _ readTime: Timestamp, of query: Query,
        records: [String: [UInt8]] = [:], keeping kept: Query? = nil, complete: Query? = nil,
        replacing part: Query? = nil, followed: FollowedQuery? = nil
    ) throws -> [LocalDocument] {
        if complete != nil || part != nil { try views.readKeysOfAll() }
        let changed = try storage.local.remote.apply(
            unstored.map(RemoteDocument.found), among: documents.map(\.path),
            readTime: readTime, records: records, keeping: kept, complete: complete,
            replacing: part, followed: followed,
            isListened: { [views] in views.isListened($0, beside: query) })
        views.refresh(changed, awaiting: readTime)
        return changed
    }

    /// Stores the rest of an answer, removes documents that are no longer rows, and makes the
    /// reader's result. Completes immediately if the answer had no parts.
    func store(_ answer: LongRead.Answer, of query: Query, completion: @escaping Completion) {
        let (documents, readTime) = rows(answer, of: query)
        let isOfOneTime = answer.isOfOneTime
        let end: @Sendable (SyncError?) -> Void = { [self] error in
            completion(
                Result {
                    if let error { throw error }
                    var result = try shown(documents, readTime, of: query)
                    if !isOfOneTime { result.freshness = mixed(readTime) }
                    return result
                }.mapError(SyncError.init(storing:)))
        }
        if answer.hasParts { return storeRest(of: answer, query, readTime, completion: end) }
        do {
            try store(
                documents, unstored: documents, readTime, of: query,
                complete: isOfOneTime ? query : nil)
            end(nil)
        } catch { end(SyncError(storing: error)) }
    }

    /// Returns a reader's result for a query's rows: the rows with pending writes on top.
    func shown(
        _ documents: [Document], _ readTime: Timestamp, of query: Query
    ) throws -> ReadResult {
        let local = storage.local
        var plain = query
        plain.offset = 0
        let written = local.queue.pending.paths(in: query)
        var rows = documents.map { LocalDocument(StoredDocument($0, readTime: readTime)) }
        if !written.isEmpty {
            rows.removeAll { local.queue.pending.hasWrites($0.path) }
            rows = local.documents.merge(
                plain, rows: rows, written: try local.documents.written(written, in: plain))
        }
        return ReadResult(
            documents: rows.compactMap(\.viewDocument), freshness: .fresh(readTime: readTime))
    }

    /// Returns the freshness of an answer with rows of different times, each at least as new as
    /// `readTime`.
    private func mixed(_ readTime: Timestamp) -> Freshness {
        let status = RPCStatus(
            .aborted,
            """
            The read was interrupted, and the server no longer has its read time: rows may \
            be missing.
            """)
        return .stale(age: context.age(of: readTime), reason: .failed(status))
    }

    // MARK: What is no row any more

    func storeRest(
        of answer: LongRead.Answer, _ query: Query, _ readTime: Timestamp,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        do { try apply(answer.unstored.map(RemoteDocument.found), readTime) } catch {
            return completion(SyncError(storing: error))
        }
        guard answer.isOfOneTime else { return completion(nil) }
        var names = answer.names
        for document in answer.unstored { names.insert(document.path) }
        let pruning = Pruning(
            query, names: names, count: answer.count, readTime: readTime,
            session: context.gate.session)
        prune(pruning, completion)
    }

    /// Processes one slice, and schedules the next as a separate job, so that other jobs run in
    /// between.
    private func prune(
        _ pruning: Pruning, _ completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(refusal) }
        guard pruning.session == context.gate.session else { return completion(.userChanged) }
        let query = pruning.query
        var pruning = pruning
        do {
            try views.readKeysOfAll()
            let changed = try storage.local.prune(&pruning) {
                views.isListened($0, beside: query)
            }
            views.refresh(changed, awaiting: pruning.readTime)
        } catch { return completion(SyncError(storing: error)) }
        if pruning.isOver { return completion(nil) }
        context.laterKeepingEngine { [self, pruning] in prune(pruning, completion) }
    }
}
