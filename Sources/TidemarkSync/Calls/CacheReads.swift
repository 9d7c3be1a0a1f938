import TidemarkModel
import TidemarkStore

/// Answers reads from the cache only: immediately, or in slices if a long scan is needed.
final class CacheReads {
    typealias Completion = @Sendable (Result<ReadResult, SyncError>) -> Void

    private let context: EngineContext
    private let storage: CacheStorage
    private let slices: SlicedReads
    private let indexes: IndexBuilder

    init(
        _ context: EngineContext, storage: CacheStorage, slices: SlicedReads,
        indexes: IndexBuilder
    ) {
        self.context = context
        self.storage = storage
        self.slices = slices
        self.indexes = indexes
    }

    /// Returns the result of `body`. Indexes that it requests are built later.
    func read<Success: Sendable>(
        _ body: (LocalStore) throws -> Success
    ) -> Result<Success, SyncError> {
        if let refusal = context.gate.refusal { return .failure(refusal) }
        do { return .success(try body(storage.local)) } catch {
            return .failure(SyncError(storing: error))
        }
    }

    // MARK: Documents and queries

    /// - Parameter completion: Called immediately, unless a long scan is needed.
    /// What a server refuses in a query, the cache refuses with the same words: an answer of no
    /// rows would look like one.
    ///
    func read(_ target: ReadTarget, reason: StaleReason, completion: @escaping Completion) {
        do {
            switch target {
            case .document(let path): completion(try document(path, reason))
            case .query(let query):
                do throws(RPCStatus) { try query.validate() } catch {
                    return completion(.failure(.server(error)))
                }
                try read(query, reason: reason, completion: completion)
            }
        } catch { completion(.failure(SyncError(storing: error))) }
    }

    private func document(
        _ path: DocumentPath, _ reason: StaleReason
    ) throws -> Result<ReadResult, SyncError> {
        let document = try storage.local.documents.document(at: path)
        guard document.kind == .found || document.kind == .missing else {
            return .failure(.notInCache(reason: reason))
        }
        return .success(
            ReadResult(
                documents: document.viewDocument.map { [$0] } ?? [],
                freshness: .stale(age: document.readTime.map(context.age), reason: reason)))
    }

    private func read(
        _ query: Query, reason: StaleReason, completion: @escaping Completion
    ) throws {
        defer { indexes.want() }
        if let rows = try storage.local.documents.run(query, lookingAt: slices.mostAtOnce) {
            return completion(
                .success(
                    try result(query, documents: rows.compactMap(\.viewDocument), reason: reason)))
        }
        let read = QueryRead(query, storage.local)
        slices.beginLater(read) { [weak self] error in
            if let error { return completion(.failure(error)) }
            self?.slices.show(read.rows) { [weak self] documents in
                guard let self else { return }
                completion(
                    Result { try self.result(query, documents: documents, reason: reason) }
                        .mapError(SyncError.init(storing:)))
            }
        }
    }

    private func result(
        _ query: Query, documents: [ViewDocument], reason: StaleReason
    ) throws -> ReadResult {
        let confirmed = try storage.local.targets.confirmed(query.wireForm)
        return ReadResult(
            documents: documents,
            freshness: .stale(age: confirmed.map(context.age), reason: reason),
            isKnown: confirmed != nil || !documents.isEmpty)
    }

    func explain(_ query: Query) -> Result<CacheExplanation, SyncError> {
        defer { indexes.want() }
        do throws(RPCStatus) { try query.validate() } catch { return .failure(.server(error)) }
        return read { try CacheExplanation(of: query, in: $0, elapsed: { context.elapsed }) }
    }

    /// Returns the current state of documents: the given ones, those of a query with pending
    /// writes, and those that changed. Returns nil if more documents changed than are recorded.
    func documents(
        at paths: [DocumentPath], andIn changes: CacheChanges, andWrittenIn query: Query?
    ) -> Result<[DocumentPath: ViewDocument?]?, SyncError> {
        let changed = changes.take()
        guard let changed else { return .success(nil) }
        let all = Array(changed.union(paths))
        let result = read { try $0.documents.documents(at: all, andWrittenIn: query) }
        if case .failure = result { changes.putBack(changed) }
        return result.map { $0 }
    }

    // MARK: Pipelines

    /// Finds the documents that a pipeline reads.
    ///
    /// - Parameter attempts: The maximum number of reads of a source with a limit. A read is
    ///   repeated if more documents have pending server timestamps at its end.
    func sources(
        _ sources: [CachedSource], maxBytes: Int, withWords: Bool, attempts: Int = 8,
        completion: @escaping @Sendable (Result<CachedSources, SyncError>) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        let words: [WordIndexDefinition]
        let first: CachedSources?
        let pending: Set<DocumentPath>
        do {
            words = withWords ? try storage.words() : []
            pending = try withPendingTimes(sources)
            first =
                pending.isEmpty
                ? try firstRows(of: sources, maxBytes: maxBytes, words: words) : nil
        } catch { return completion(.failure(SyncError(storing: error))) }
        if let first { return completion(.success(first)) }
        let read = SourcesRead(
            sources.map { $0.with(moreRows: pending.count) }, maxBytes: maxBytes, words: words,
            in: storage.local)
        slices.begin(read) { [weak self] error in
            if let error { return completion(.failure(error)) }
            guard let self else { return completion(.failure(.terminated)) }
            do {
                // A write during the read can add a server timestamp. A source without a limit has
                // all rows nevertheless.
                let now = try self.withPendingTimes(sources)
                guard now.isSubset(of: pending) || sources.allSatisfy({ $0.query?.limit == nil })
                else {
                    if attempts == 1 { return completion(.failure(.changingTimes)) }
                    return self.sources(
                        sources, maxBytes: maxBytes, withWords: withWords, attempts: attempts - 1,
                        completion: completion)
                }
                let found = try self.found(
                    by: read, of: sources, pending: pending.union(now), words: words)
                completion(.success(found))
            } catch { completion(.failure(SyncError(storing: error))) }
        }
    }

    private func found(
        by read: SourcesRead, of sources: [CachedSource], pending: Set<DocumentPath>,
        words: [WordIndexDefinition]
    ) throws -> CachedSources {
        indexes.want()
        let rows = try zip(sources, read.found).map { source, rows -> [LocalDocument] in
            guard let query = source.selectingQuery, !pending.isEmpty else { return rows }
            let more = pending.sorted().filter { query.contains($0) }
            return rows.filter { !pending.contains($0.path) }
                + (try more.map { try storage.local.documents.document(at: $0) })
        }
        return CachedSources(
            documents: rows.map { $0.compactMap(\.viewDocument) }, haveMore: !pending.isEmpty,
            age: try age(of: sources), words: words,
            searches: try read.searches.map { search in
                var search = search
                search.confirmed = try storage.local.targets.confirmed(search.query.wireForm)
                return search
            })
    }

    /// Returns the documents with a server timestamp that the server has not set yet, in the
    /// collections of the sources that have conditions, an order or a limit.
    private func withPendingTimes(_ sources: [CachedSource]) throws -> Set<DocumentPath> {
        let local = storage.local
        let queries = sources.compactMap(\.selectingQuery)
        let paths = queries.flatMap { local.queue.pending.paths(in: $0) }
        if paths.isEmpty { return [] }
        return try local.read { transaction in
            Set(
                try paths.filter { path in
                    try local.queue.document(at: path, transaction).hasPendingTimes
                })
        }
    }

    /// Returns the rows of a single query with a limit, as a read of the query does; nil for other
    /// sources, and if a long scan is needed.
    private func firstRows(
        of sources: [CachedSource], maxBytes: Int, words: [WordIndexDefinition]
    ) throws -> CachedSources? {
        guard sources.count == 1, case .rows(let query) = sources[0], query.limit != nil else {
            return nil
        }
        defer { indexes.want() }
        guard let rows = try storage.local.documents.run(query, lookingAt: slices.mostAtOnce)
        else { return nil }
        try SourcesRead.bytes(0, adding: rows, within: maxBytes)
        return CachedSources(
            documents: [rows.compactMap(\.viewDocument)], haveMore: false,
            age: try age(of: sources), words: words, searches: [])
    }

    /// Passes the rows of a query on, one at a time.
    func stream(
        _ query: Query, to receiver: any RowReceiver,
        completion: @escaping @Sendable (Result<StreamedRows?, SyncError>) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        do {
            if try !withPendingTimes([.rows(query)]).isEmpty { return completion(.success(nil)) }
        } catch { return completion(.failure(SyncError(storing: error))) }
        let read = StreamedRead(query, to: receiver, in: storage.local)
        slices.begin(read) { [weak self] error in
            if let error { return completion(.failure(error)) }
            guard let self else { return completion(.failure(.terminated)) }
            if read.hasGivenUp { return completion(.success(nil)) }
            completion(
                Result {
                    if try !self.withPendingTimes([.rows(query)]).isEmpty { return nil }
                    return StreamedRows(
                        age: try self.age(of: [.rows(query)]),
                        hasPendingWrites: read.hasPendingWrites)
                }.mapError(SyncError.init(storing:)))
        }
    }

    /// Returns the greatest age of the sources; nil if one was never complete.
    private func age(of sources: [CachedSource]) throws -> Duration? {
        var oldest: Timestamp?
        for source in sources {
            guard var query = source.query else { continue }
            var confirmed = try storage.local.targets.confirmed(query.wireForm)
            if confirmed == nil {
                // The whole collection contains what its conditions select.
                (query.filter, query.orders, query.limit) = (nil, [], nil)
                confirmed = try storage.local.targets.confirmed(query.wireForm)
            }
            guard let confirmed else { return nil }
            oldest = min(oldest ?? confirmed, confirmed)
        }
        return oldest.map(context.age)
    }

    // MARK: Figures

    func aggregate(
        _ query: Query, aggregations: [Aggregation],
        completion: @escaping @Sendable (Result<(AggregationReply, Freshness), SyncError>) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        do throws(RPCStatus) {
            let named = try Aggregation.validated(aggregations)
            let ordered = try query.ordered(for: named)
            try ordered.validateWithoutVectors()
            findFigures(ordered, aggregations: named) { [weak self] result in
                completion(
                    result.flatMap { values in
                        self?.reply(values, query) ?? .failure(.terminated)
                    })
            }
        } catch { completion(.failure(.server(error))) }
    }

    /// - Parameter aggregations: Validated aggregations.
    private func findFigures(
        _ query: Query, aggregations: [Aggregation],
        completion: @escaping (Result<MapValue, SyncError>) -> Void
    ) {
        let fields = Figures.fields(of: aggregations)
        let isWhole = query.limit == nil && query.offset == 0
        guard isWhole || fields.isEmpty else {
            return findFiguresOfRows(
                query, aggregations: aggregations, fields: fields, completion: completion)
        }
        var all = query
        (all.limit, all.offset, all.projection) = (nil, 0, nil)
        let read = FigureRead([all], fields, storage.local)
        slices.begin(read) { error in
            if let error { return completion(.failure(error)) }
            var figures = read.figures[0]
            if !isWhole {
                let count = max(0, figures.rows - Int64(query.offset))
                figures = Figures(of: [])
                figures.addRows(min(count, query.limit.map { Int64($0.count) } ?? .max))
            }
            completion(.success(figures.values(aggregations)))
        }
    }

    /// Computes figures of a query with a limit: finds the rows first, because the limit selects
    /// them.
    private func findFiguresOfRows(
        _ query: Query, aggregations: [Aggregation], fields: [FieldPath],
        completion: @escaping (Result<MapValue, SyncError>) -> Void
    ) {
        let read = QueryRead(query, storage.local)
        slices.begin(read) { error in
            if let error { return completion(.failure(error)) }
            var figures = Figures(of: fields)
            for row in read.rows { figures.add(row.contents) }
            completion(.success(figures.values(aggregations)))
        }
    }

    private func reply(
        _ values: MapValue, _ query: Query
    ) -> Result<(AggregationReply, Freshness), SyncError> {
        Result {
            let confirmed = try storage.local.targets.confirmed(query.wireForm)
            return (
                AggregationReply(values: values, readTime: confirmed ?? .epoch),
                .stale(age: confirmed.map(context.age), reason: .askedForCache)
            )
        }.mapError(SyncError.init(storing:))
    }

    /// Counts the rows of each query in one state of the cache.
    func counts(
        of queries: [Query], _ completion: @escaping (Result<[Int], SyncError>) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        let read = FigureRead(queries, [], storage.local)
        slices.begin(read) { error in
            if let error { return completion(.failure(error)) }
            completion(.success(read.figures.map { Int($0.rows) }))
        }
    }
}

extension SyncError {
    /// Documents got pending server timestamps again and again while a pipeline read them.
    static let changingTimes = SyncError.server(
        RPCStatus(.aborted, "Writes changed the cache during each read. Run the pipeline again."))
}
