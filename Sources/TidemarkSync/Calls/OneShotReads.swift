import TidemarkModel

/// The target of a one-shot read.
enum ReadTarget: Equatable, Sendable {
    case document(DocumentPath)
    case query(Query)
}

/// Reads with a deadline. A live view answers immediately; otherwise the server answers, or the
/// cache when the time is up.
// @unchecked: used only on the engine's executor, like the engine.
final class OneShotReads: @unchecked Sendable {
    typealias Completion = CacheReads.Completion

    /// A read that waits for the server.
    private struct Waiting {
        let timer: any CancellableCall
        let completion: Completion
    }

    private let context: EngineContext
    private let meter: BillingMeter
    private let reachability: Reachability
    private let connection: ListenConnection
    private let queries: ListenedQueries
    private let calls: OneShotCalls
    private let answers: AnswerStore
    private let cache: CacheReads
    private var waiting: [UInt64: Waiting] = [:]
    private var nextID: UInt64 = 0

    /// The time after which the cache answers a read without a deadline.
    private static let patience = OnlineState.patience
    /// The time limit of an attempt without retries.
    private static let noTime = Duration.microseconds(1)

    init(
        _ context: EngineContext, meter: BillingMeter, reachability: Reachability,
        connection: ListenConnection, queries: ListenedQueries, calls: OneShotCalls,
        answers: AnswerStore, cache: CacheReads
    ) {
        self.context = context
        self.meter = meter
        self.reachability = reachability
        self.connection = connection
        self.queries = queries
        self.calls = calls
        self.answers = answers
        self.cache = cache
    }

    /// - Parameter silence: The maximum time without a message, for a read without a deadline.
    func read(
        _ target: ReadTarget, _ source: ReadSource, _ deadline: Duration?, _ tag: ReadTag,
        silence: Duration? = nil, _ completion: @escaping Completion
    ) {
        if let refusal = context.gate.refusal { return completion(.failure(refusal)) }
        switch source {
        case .cache:
            meter.countCached()
            cache.read(target, reason: .askedForCache, completion: completion)
        case .server:
            if let reason = meter.refusal(of: tag) { return completion(.failure(reason)) }
            ask(target, tag: tag, rule: .read, deadline: deadline, silence: silence) {
                [self] result, status in
                completion(result ?? .failure(context.gate.error(status)))
            }
        case .default:
            readDefault(target, deadline: deadline ?? silence, tag: tag, completion: completion)
        }
    }

    private func readDefault(
        _ target: ReadTarget, deadline: Duration?, tag: ReadTag,
        completion: @escaping Completion
    ) {
        if let live = live(target) {
            meter.countCached()
            return completion(.success(live))
        }
        switch meter.verdict(on: tag) {
        case .allowed: break
        case .degraded(let budget):
            meter.countCached()
            return cache.read(target, reason: .overBudget(budget), completion: completion)
        case .refused(let budget): return completion(.failure(.overBudget(budget)))
        }
        // The time that the server has been silent already counts, so the next read does not wait
        // again.
        let wait = min(deadline ?? Self.patience, Self.patience) - reachability.silentFor
        guard context.gate.isNetworkEnabled, reachability.state != .offline, wait > .zero else {
            meter.countCached()
            cache.read(target, reason: .offline, completion: completion)
            return probe(target, tag)
        }
        let id = nextID
        nextID += 1
        let timer = context.after(wait, .readDeadline) { [weak self] in
            self?.finish(id, fromCache: target, .deadlinePassed)
        }
        waiting[id] = Waiting(timer: timer, completion: completion)
        // The call continues after the deadline, and stores its result for the next read.
        ask(target, tag: tag, rule: .readOrCache(within: wait), deadline: nil) {
            [self] result, status in
            if let result { return finish(id, result) }
            answer(id, target, without: status)
        }
    }

    /// Asks in the background whether the server is available again: one probe at a time, and not
    /// too often.
    private func probe(_ target: ReadTarget, _ tag: ReadTag) {
        guard context.gate.isNetworkEnabled, calls.isEmpty, reachability.mayProbe else { return }
        ask(target, tag: tag, rule: .readOrCache(within: Self.noTime), deadline: nil) { _, _ in }
    }

    // MARK: The end

    /// The ids of waiting reads, for tests.
    var waitingIDs: [UInt64] { waiting.keys.sorted() }

    /// Ends all reads without an answer.
    func endAll(_ error: SyncError) {
        for id in waitingIDs { finish(id, .failure(error)) }
    }

    private func finish(_ id: UInt64, _ result: Result<ReadResult, SyncError>) {
        guard let read = waiting.removeValue(forKey: id) else { return }
        read.timer.cancel()
        read.completion(result)
    }

    /// Answers a read from the cache, unless the server answers first.
    func finish(_ id: UInt64, fromCache target: ReadTarget, _ reason: StaleReason) {
        guard waiting[id] != nil else { return }
        meter.countCached()
        cache.read(target, reason: reason) { [weak self] in self?.finish(id, $0) }
    }

    private func answer(_ id: UInt64, _ target: ReadTarget, without status: RPCStatus) {
        if context.gate.isTerminated { return finish(id, .failure(.terminated)) }
        if status.code == .unavailable { return finish(id, fromCache: target, .offline) }
        if status.code == .deadlineExceeded {
            return finish(id, fromCache: target, .deadlinePassed)
        }
        guard status.code.mayPass else { return finish(id, .failure(.server(status))) }
        finish(id, fromCache: target, .failed(status))
    }

    // MARK: The server

    /// - Parameter completion: Gets no result if the server gave none.
    private func ask(
        _ target: ReadTarget, tag: ReadTag, rule: RetryRule, deadline: Duration?,
        silence: Duration? = nil,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>?, RPCStatus) -> Void
    ) {
        switch target {
        case .document(let path):
            let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: [path]))
            calls.start(request, tag: tag, rule: rule, deadline: deadline ?? silence) {
                [self] replies, status in
                guard status.code == .ok, context.gate.isRunning else {
                    return completion(nil, status)
                }
                completion(
                    Result { try answers.store(replies) }.mapError(SyncError.init(storing:)),
                    status)
            }
        case .query(var query):
            query.projection = nil
            calls.startRead(
                query, tag: tag, rule: rule, deadline: deadline, silence: silence, mayMixTimes: true
            ) { [self, query] end in
                switch end {
                case .failed(let status): completion(nil, status)
                case .storage(let error): completion(.failure(error), .ok)
                case .rows(let answer):
                    guard context.gate.isRunning else { return completion(nil, .ok) }
                    answers.store(answer, of: query) { completion($0, .ok) }
                }
            }
        }
    }

    /// Returns the result from a listener's view that is up to date; nil if there is none.
    private func live(_ target: ReadTarget) -> ReadResult? {
        guard reachability.state == .online, connection.isOpen, !queries.isEmpty else { return nil }
        let query: Query
        switch target {
        case .document(let path): query = .document(path, in: context.database)
        case .query(let asked): query = asked
        }
        guard let view = queries[QueryKey(query)]?.view, view.isFresh, let time = view.readTime
        else { return nil }
        return ReadResult(documents: view.documents, freshness: .fresh(readTime: time))
    }
}
