import TidemarkModel

/// The target of a one-shot read.
enum ReadTarget: Equatable, Sendable {
    case document(DocumentPath)
    case query(Query)
}

/// Reads with a deadline. A live view answers immediately. A listen under way to the same rows
/// answers when the server does, because a call would pay for the rows a second time. Otherwise the
/// server answers a call. The cache answers when the time is up.
// @unchecked: used only on the engine's executor, like the engine.
final class OneShotReads: @unchecked Sendable {
    typealias Completion = CacheReads.Completion

    /// A read that waits for the server.
    private struct Waiting {
        let timer: any CancellableCall
        let completion: Completion
        /// The read's own listener, while the read waits for a listen.
        var listener: UInt64?
    }

    private let context: EngineContext
    private let meter: BillingMeter
    private let reachability: Reachability
    private let connection: ListenConnection
    private let queries: ListenedQueries
    private let listeners: Listeners
    private let calls: OneShotCalls
    private let answers: AnswerStore
    private let cache: CacheReads
    private var waiting: [UInt64: Waiting] = [:]
    private var nextID: UInt64 = 0

    /// The time after which the cache answers a read without a deadline.
    private static let patience = OnlineState.patience
    /// The time limit of an attempt without retries.
    private static let noTime = Duration.microseconds(1)
    /// The id of the first read's listener. An app's listeners are numbered from 1 and do not reach
    /// this number.
    private static let firstListener: UInt64 = 1 << 63

    init(
        _ context: EngineContext, meter: BillingMeter, reachability: Reachability,
        connection: ListenConnection, queries: ListenedQueries, listeners: Listeners,
        calls: OneShotCalls, answers: AnswerStore, cache: CacheReads
    ) {
        self.context = context
        self.meter = meter
        self.reachability = reachability
        self.connection = connection
        self.queries = queries
        self.listeners = listeners
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
        let listened = listened(target)
        if let live = listened.flatMap(live) {
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
        if let listened, connection.isListening(to: listened.targetID), !listened.view.isFresh {
            join(listened, read: id, of: target, tag: tag, within: wait)
        } else {
            ask(for: id, target: target, tag: tag, within: wait)
        }
    }

    /// Asks the server for a waiting read. The call continues after the deadline, and stores its
    /// result for the next read.
    private func ask(for id: UInt64, target: ReadTarget, tag: ReadTag, within wait: Duration) {
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

    // MARK: Listens under way

    /// Returns the listened query with the target's rows; nil also if it cannot have an answer now.
    private func listened(_ target: ReadTarget) -> ListenedQuery? {
        guard !queries.isEmpty, connection.isOpen, reachability.state != .offline else {
            return nil
        }
        switch target {
        case .document(let path): return queries[QueryKey(.document(path, in: context.database))]
        case .query(let query): return queries[QueryKey(query)]
        }
    }

    /// Returns the result from a listener's view that is up to date; nil if it is not.
    private func live(_ listened: ListenedQuery) -> ReadResult? {
        guard reachability.state == .online, listened.view.isFresh,
            let time = listened.view.readTime
        else { return nil }
        return ReadResult(documents: listened.view.documents, freshness: .fresh(readTime: time))
    }

    /// Waits for the answer of a listen, by a listener that keeps the listen until then.
    private func join(
        _ listened: ListenedQuery, read id: UInt64, of target: ReadTarget, tag: ReadTag,
        within wait: Duration
    ) {
        let listener = Self.firstListener + id
        waiting[id]!.listener = listener
        let options = SyncEngine.ListenOptions(source: .server, tag: tag)
        listeners.join(
            ListenedQuery.Listener(id: listener, machine: QueryListener(options)) {
                [weak self] result in
                guard let self else { return }
                // A view is stepping now, so its listeners must not change.
                context.laterKeepingEngine { [self] in
                    answer(id, target: target, tag: tag, within: wait, from: result)
                }
            }, listened)
    }

    /// Answers a read from the first event of its listener. If the listen ended or is held back,
    /// the server is asked by a call.
    private func answer(
        _ id: UInt64, target: ReadTarget, tag: ReadTag, within wait: Duration,
        from result: Result<ViewSnapshot, SyncError>
    ) {
        guard let listener = waiting[id]?.listener else { return }
        switch result {
        case .success(let snapshot):
            if !snapshot.isFromCache, let time = snapshot.readTime {
                meter.countCached()
                return finish(
                    id,
                    .success(
                        ReadResult(
                            documents: snapshot.documents, freshness: .fresh(readTime: time))))
            }
            if reachability.state == .offline { return finish(id, fromCache: target, .offline) }
        case .failure(.server(let status)): return finish(id, .failure(.server(status)))
        case .failure: break
        }
        waiting[id]!.listener = nil
        listeners.remove(listener)
        ask(for: id, target: target, tag: tag, within: wait)
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
        if let listener = read.listener { listeners.remove(listener) }
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
}
