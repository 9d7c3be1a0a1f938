import TidemarkModel
import TidemarkStore

// Calls whose answers are the caller's: aggregations, and fetches that store their rows.

extension EngineCore {
    func aggregate(
        _ query: Query, _ aggregations: [Aggregation], _ deadline: Duration?, _ tag: ReadTag,
        _ completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        if let reason = refusal ?? overBudget(tag) { return completion(.failure(reason)) }
        let request = RunAggregationQueryRequest(
            query: query.wireForm, aggregations: aggregations)
        startCall(.runAggregationQuery(request), tag, deadline: deadline) {
            [self] replies, status in
            guard status.code == .ok else { return completion(.failure(error(status))) }
            for case .runAggregationQuery(let reply) in replies {
                return completion(.success(reply))
            }
            completion(.failure(.server(RPCStatus(.internal, "The server sent no result."))))
        }
    }

    /// For what only the server can answer.
    func overBudget(_ tag: ReadTag) -> SyncError? {
        verdict(on: tag).budget.map { .overBudget($0) }
    }

    // MARK: Fetch

    typealias Records = @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]]
    /// A part of a collection of which the documents are all that there is: what the cache has in it
    /// besides is forgotten. Nil for none.
    typealias Replaced = @Sendable ([Document]) -> Query?

    func fetch(
        _ query: Query, _ deadline: Duration?, _ tag: ReadTag, _ records: @escaping Records,
        replacing: @escaping Replaced = { _ in nil },
        _ completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        if let reason = refusal ?? overBudget(tag) { return completion(.failure(reason)) }
        var query = query
        query.projection = nil
        startRead(query, tag.or(.page), deadline: deadline, mayMixTimes: false) {
            [self, query] end in
            completion(
                end.answer(error).flatMap { answer in
                    Result {
                        let (documents, readTime) = rows(answer, of: query)
                        return try store(
                            documents, readTime, of: query, unstored: answer.unstored,
                            records: records(documents, readTime),
                            replacing: replacing(documents))
                    }.mapError(SyncError.init(storing:))
                })
        }
    }

    /// Whether a document that is no row of `query` any more may still be one of what is listened to. The
    /// listen will tell; until then it is shown as it was. Where all filters of `query` hold too it is no
    /// row there either: kept, it would stand in an answer that says it is complete.
    ///
    /// To be asked after ``readKeysOfAll()``.
    func isListened(_ path: DocumentPath, beside query: Query) -> Bool {
        queries.values.contains { listened in
            listened.view.synced?.contains(path) == true && !listened.query.isPart(of: query)
        }
    }

    /// Stores what the server returned, and makes of it what a reader sees.
    ///
    /// - Parameter unstored: Those that are not stored yet; nil for all.
    func store(
        _ documents: [Document], _ readTime: Timestamp, of query: Query,
        unstored: [Document]? = nil, records: [String: [UInt8]], isComplete: Bool = false,
        replacing part: Query? = nil
    ) throws -> ReadResult {
        if isComplete || part != nil { try readKeysOfAll() }
        let changed = try local.remote.apply(
            (unstored ?? documents).map(RemoteDocument.found), among: documents.map(\.path),
            readTime: readTime, records: records,
            keeping: records.isEmpty ? nil : query, complete: isComplete ? query : nil,
            replacing: part,
            isListened: { [self] in isListened($0, beside: query) })
        refreshViews(changed, nil, awaiting: readTime)
        return try shown(documents, readTime, of: query)
    }

    /// What a reader sees of a query's rows: with the pending writes.
    func shown(
        _ documents: [Document], _ readTime: Timestamp, of query: Query
    ) throws -> ReadResult {
        var plain = query
        plain.offset = 0
        let written = local.queue.pending.paths(in: query)
        var rows = documents.map { LocalDocument(StoredDocument($0, readTime: readTime)) }
        if !written.isEmpty {
            rows.removeAll { local.queue.pending.hasWrites($0.path) }
            rows = local.documents.merge(
                plain, rows, try local.documents.written(written, in: plain))
        }
        return ReadResult(
            documents: rows.compactMap(\.viewDocument), freshness: .fresh(readTime: readTime))
    }
}

extension Query {
    /// Whether it asks for no other rows than `other`, orders, cursors and limits aside, and the range of
    /// the first order that `other` is a page of: a row that has moved along that is no row where it was.
    fileprivate func isPart(of other: Query) -> Bool {
        guard parent == other.parent, collectionID == other.collectionID,
            allDescendants == other.allDescendants
        else { return false }
        let own = conditions
        return other.conditions.allSatisfy {
            $0.isRange(of: other.orders.first) || own.contains($0)
        }
    }

    /// All of which a row has to meet.
    private var conditions: [Filter] {
        switch filter {
        case nil: []
        case .and(let filters)?: filters
        case let filter?: [filter]
        }
    }
}

extension Filter {
    fileprivate func isRange(of order: Order?) -> Bool {
        guard let order, case .field(order.field, let operation, _) = self else { return false }
        switch operation {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return true
        default: return false
        }
    }
}
