import TidemarkModel

/// Calls whose results go to the caller: aggregations, transactions, fetches that store their rows,
/// and requests of feeds. A change of user or the end of the engine ends them.
// @unchecked: used only on the engine's executor, like the engine.
final class Fetches: @unchecked Sendable {
    typealias Completion = CacheReads.Completion
    typealias Records = @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]]
    /// Returns a part of a collection in which the documents are all that exist, so other documents
    /// in the cache are removed. Nil for none.
    typealias Replaced = @Sendable ([Document]) -> Query?

    private let context: EngineContext
    private let storage: CacheStorage
    private let meter: BillingMeter
    private let calls: OneShotCalls
    private let answers: AnswerStore
    private let cache: CacheReads

    init(
        _ context: EngineContext, storage: CacheStorage, meter: BillingMeter,
        calls: OneShotCalls, answers: AnswerStore, cache: CacheReads
    ) {
        self.context = context
        self.storage = storage
        self.meter = meter
        self.calls = calls
        self.answers = answers
        self.cache = cache
    }

    /// Returns the reason why the server must not be asked; nil if it may be.
    private func refusal(_ tag: ReadTag) -> SyncError? {
        context.gate.refusal ?? meter.refusal(of: tag)
    }

    /// Returns the reason why a read would fail before it is sent; nil if it may be sent.
    func refusalToAsk(_ tag: ReadTag) -> SyncError? {
        refusal(tag) ?? context.gate.disconnection.map { .server($0) }
    }

    // MARK: Aggregations

    func aggregate(
        _ query: Query, aggregations: [Aggregation], deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        if let reason = refusal(tag) { return completion(.failure(reason)) }
        let request = RunAggregationQueryRequest(
            query: query.aggregationForm, aggregations: aggregations)
        aggregate(request, tag: tag, deadline: deadline, completion: completion)
    }

    private func aggregate(
        _ request: RunAggregationQueryRequest, tag: ReadTag, deadline: Duration?,
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        calls.start(.runAggregationQuery(request), tag: tag, deadline: deadline) {
            [self] replies, status in
            guard status.code == .ok else {
                return completion(.failure(context.gate.error(status)))
            }
            for case .runAggregationQuery(let reply) in replies {
                return completion(.success(reply))
            }
            completion(.failure(.server(RPCStatus(.internal, "The server sent no result."))))
        }
    }

    // MARK: Pipelines

    /// Runs a pipeline on the server. Its rows are not stored, because they are not documents.
    func execute(
        _ request: ExecutePipelineRequest, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<ExecutePipelineReply, SyncError>) -> Void
    ) {
        if let reason = refusal(tag) { return completion(.failure(reason)) }
        let rule = request.changesDocuments ? RetryRule.write(isIdempotent: false) : .read
        calls.start(.executePipeline(request), tag: tag, rule: rule, deadline: deadline) {
            [self] replies, status in
            guard status.code == .ok else {
                return completion(.failure(context.gate.error(status)))
            }
            completion(.success(ExecutePipelineReply(joining: replies)))
        }
    }

    // MARK: Rows

    func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag, records: @escaping Records,
        replacing: @escaping Replaced = { _ in nil }, completion: @escaping Completion
    ) {
        if let reason = refusal(tag) { return completion(.failure(reason)) }
        var query = query
        query.projection = nil
        calls.startRead(query, tag: tag.or(.page), deadline: deadline, mayMixTimes: false) {
            [self, query] end in
            completion(
                end.answer(context.gate.error).flatMap { answer in
                    Result {
                        let (documents, readTime) = answers.rows(answer, of: query)
                        let records = records(documents, readTime)
                        try answers.store(
                            documents, unstored: answer.unstored, readTime, of: query,
                            records: records, keeping: records.isEmpty ? nil : query,
                            replacing: replacing(documents))
                        return try answers.shown(documents, readTime, of: query)
                    }.mapError(SyncError.init(storing:))
                })
        }
    }

    /// Reads a query into the cache without returning its rows.
    func download(
        _ query: Query, deadline: Duration?, silence: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<DownloadedRows, SyncError>) -> Void
    ) {
        if let reason = refusal(tag) { return completion(.failure(reason)) }
        var query = query
        query.projection = nil
        calls.startRead(
            query, tag: tag, deadline: deadline, silence: silence, mayMixTimes: true,
            keepsRows: false
        ) { [self, query] end in
            switch end.answer(context.gate.error) {
            case .failure(let error): completion(.failure(error))
            case .success(let answer):
                let readTime = answer.readTime ?? storage.local.targets.lastVersion
                // Passes the rows and not the answer, whose names would otherwise be copied.
                let rows = DownloadedRows(
                    count: answer.count, readTime: readTime, isOfOneTime: answer.isOfOneTime)
                answers.storeRest(of: answer, query, readTime) { error in
                    completion(error.map { .failure($0) } ?? .success(rows))
                }
            }
        }
    }

    // MARK: Feeds

    func fetchPage(
        _ query: Query, deadline: Duration?, tag: ReadTag,
        made: @escaping @Sendable ([Document], _ readTime: Timestamp) -> FeedPageRecords,
        completion: @escaping @Sendable (Result<[DocumentPath], SyncError>) -> Void
    ) {
        if let reason = refusal(tag) { return completion(.failure(reason)) }
        calls.startRead(query, tag: tag.or(.page), deadline: deadline, mayMixTimes: false) {
            [self] end in
            do {
                let answer = try end.answer(context.gate.error).get()
                let (documents, readTime) = answers.rows(answer, of: query)
                let page = made(documents, readTime)
                let changed = try answers.store(
                    documents, unstored: answer.unstored, readTime, of: query,
                    records: page.records, keeping: query, replacing: page.complete,
                    followed: page.followed)
                // The changes made by the parts are among all documents.
                completion(
                    .success((answer.hasParts ? documents : []).map(\.path) + changed.map(\.path)))
            } catch { completion(.failure(SyncError(storing: error))) }
        }
    }

    /// Stores the records of a feed or a pager that begins with a result of the cache, if there is
    /// one.
    func begin(
        _ query: Query, itemTime: FieldPath, made: (KnownResult) -> FeedPageRecords?
    ) -> Result<Void, SyncError> {
        if let refusal = context.gate.writeRefusal { return .failure(refusal) }
        return Result {
            guard let known = try storage.local.targets.knownResult(of: query, by: itemTime),
                let page = made(known)
            else { return }
            try answers.store(
                known.documents, unstored: [], known.readTime, of: query, records: page.records,
                keeping: query, replacing: page.complete)
        }.mapError(SyncError.init(storing:))
    }

    func count(
        _ query: Query, upTo most: Int, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<ServerCount, SyncError>) -> Void
    ) {
        let count = Aggregation(alias: "count", .count(upTo: Int64(most)))
        aggregate(query, aggregations: [count], deadline: deadline, tag: tag.or(.get)) { reply in
            completion(
                reply.map { reply in
                    ServerCount(
                        documents: FeedAudit.Figures(reply.values ?? [:]).count,
                        readTime: reply.readTime)
                })
        }
    }

    /// - Parameter expected: The server's figures; nil to ask the server.
    func compare(
        _ range: HeldRange, expected: FeedAudit.Figures?, readTime: Timestamp?,
        deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<FeedComparison, SyncError>) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        if let expected { return completion(cache.read { try range.compare($0, with: expected) }) }
        if let reason = meter.refusal(of: tag) { return completion(.failure(reason)) }
        let request = RunAggregationQueryRequest(
            query: range.query.aggregationForm, aggregations: range.aggregations,
            consistency: readTime.map { .at($0) } ?? .latest)
        aggregate(request, tag: tag.or(.audit), deadline: deadline) { [self] reply in
            completion(reply.flatMap { reply in cache.read { try range.compare($0, with: reply) } })
        }
    }

    // MARK: Transactions

    /// Reads documents from the server, in the order of `paths`; nil for a document that does not
    /// exist.
    func lookUp(
        _ paths: [DocumentPath], tag: ReadTag,
        completion:
            @escaping @Sendable (Result<[(Document?, readTime: Timestamp)], SyncError>) -> Void
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: paths))
        calls.start(request, tag: tag, deadline: nil) { [self] replies, status in
            guard status.code == .ok else {
                return completion(.failure(context.gate.error(status)))
            }
            var rows: [DocumentPath: (Document?, readTime: Timestamp)] = [:]
            for case .batchGetDocuments(let reply) in replies {
                switch reply.row {
                case .found(let document): rows[document.path] = (document, reply.readTime)
                case .missing(let path): rows[path] = (nil, reply.readTime)
                case nil: break
                }
            }
            let found = paths.compactMap { rows[$0] }
            guard found.count == paths.count else {
                let status = RPCStatus(
                    .internal,
                    """
                    The server's response does not cover all documents.
                    """)
                return completion(.failure(.server(status)))
            }
            completion(.success(found))
        }
    }

    /// Commits mutations on the server immediately, or fails. Nothing is queued.
    func commit(
        _ mutations: [Mutation],
        _ completion: @escaping @Sendable (Result<Timestamp, CommitFailure>) -> Void
    ) {
        // A refused commit has not been sent.
        if let refusal = context.gate.refusal {
            return completion(.failure(CommitFailure(refusal, mayBeApplied: false)))
        }
        if let status = context.gate.disconnection {
            return completion(.failure(CommitFailure(.server(status), mayBeApplied: false)))
        }
        let request = Request.commit(CommitRequest(mutations: mutations))
        let rule = RetryRule.write(isIdempotent: mutations.allSatisfy(\.isIdempotent))
        calls.start(request, tag: ReadTag(), rule: rule, deadline: nil) { [self] replies, status in
            guard status.code == .ok else {
                return completion(
                    .failure(
                        CommitFailure(
                            context.gate.error(status), mayBeApplied: status.leavesCommitOpen)))
            }
            for case .commit(let reply) in replies {
                return completion(.success(reply.commitTime))
            }
            let status = RPCStatus(.internal, "The server sent no result.")
            completion(.failure(CommitFailure(.server(status), mayBeApplied: true)))
        }
    }
}
