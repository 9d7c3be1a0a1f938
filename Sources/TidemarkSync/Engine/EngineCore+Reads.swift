import TidemarkModel
import TidemarkStore

/// What a one-shot read asks for.
enum ReadTarget: Equatable, Sendable {
    case document(DocumentPath)
    case query(Query)
}

/// A read that waits for the server.
struct WaitingRead {
    let target: ReadTarget
    let timer: any CancellableCall
    let completion: @Sendable (Result<ReadResult, SyncError>) -> Void
}

extension EngineCore {
    /// How long a read without a deadline of its own waits before the cache answers.
    static let readPatience = OnlineState.patience

    /// For an attempt that no other one follows.
    private static let noTime = Duration.microseconds(1)

    typealias ReadCompletion = @Sendable (Result<ReadResult, SyncError>) -> Void

    /// - Parameter silence: How long the server may say nothing, where there is no deadline.
    func read(
        _ target: ReadTarget, _ source: ReadSource, _ deadline: Duration?, _ tag: ReadTag,
        silence: Duration? = nil, _ completion: @escaping ReadCompletion
    ) {
        if let refusal { return completion(.failure(refusal)) }
        switch source {
        case .cache: cached(target, .askedForCache, completion)
        case .server:
            if let budget = verdict(on: tag).budget {
                return completion(.failure(.overBudget(budget)))
            }
            ask(target, tag, .read, deadline: deadline, silence: silence) {
                [self] result, status in
                completion(result ?? .failure(error(status)))
            }
        case .default: readDefault(target, deadline ?? silence, tag, completion)
        }
    }

    private func readDefault(
        _ target: ReadTarget, _ deadline: Duration?, _ tag: ReadTag,
        _ completion: @escaping ReadCompletion
    ) {
        if let live = live(target) { return completion(.success(live)) }
        switch verdict(on: tag) {
        case .allowed: break
        case .degraded(let budget): return cached(target, .overBudget(budget), completion)
        case .refused(let budget): return completion(.failure(.overBudget(budget)))
        }
        let elapsed = environment.scheduler.elapsed
        // How long the server has been silent already counts: the next read does not wait again.
        let silence = silentSince.map { elapsed - $0 } ?? .zero
        let wait = min(deadline ?? Self.readPatience, Self.readPatience) - silence
        guard networkEnabled, online.state != .offline, wait > .zero else {
            cached(target, .offline, completion)
            return probe(target, tag)
        }
        let id = nextCallID
        nextCallID += 1
        let timer = environment.scheduler.schedule(.readDeadline, after: wait) { [weak self] in
            self?.finish(id, fromCache: target, .deadlinePassed)
        }
        reads[id] = WaitingRead(target: target, timer: timer, completion: completion)
        // The call goes on after the deadline: what it brings is in the cache for the next read.
        ask(target, tag, .readOrCache(within: wait), deadline: nil) { [self] result, status in
            if let result { return finish(id, result) }
            answer(id, target, without: status)
        }
    }

    func finish(_ id: UInt64, _ result: Result<ReadResult, SyncError>) {
        guard let read = reads.removeValue(forKey: id) else { return }
        read.timer.cancel()
        read.completion(result)
    }

    /// Asks in the background whether the server is back: one at a time, and not too often.
    private func probe(_ target: ReadTarget, _ tag: ReadTag) {
        guard networkEnabled, calls.isEmpty, environment.scheduler.elapsed >= nextProbe else {
            return
        }
        ask(target, tag, .readOrCache(within: Self.noTime), deadline: nil) { _, _ in }
    }

    /// With what the cache has then, unless the server is faster.
    func finish(_ id: UInt64, fromCache target: ReadTarget, _ reason: StaleReason) {
        guard reads[id] != nil else { return }
        cached(target, reason) { [weak self] in self?.finish(id, $0) }
    }

    private func answer(_ id: UInt64, _ target: ReadTarget, without status: RPCStatus) {
        if state == .terminated { return finish(id, .failure(.terminated)) }
        if status.code == .unavailable { return finish(id, fromCache: target, .offline) }
        if status.code == .deadlineExceeded {
            return finish(id, fromCache: target, .deadlinePassed)
        }
        guard status.code.mayPass else { return finish(id, .failure(.server(status))) }
        finish(id, fromCache: target, .failed(status))
    }

    // MARK: The server

    /// - Parameter completion: Gets no result when the server gave none.
    private func ask(
        _ target: ReadTarget, _ tag: ReadTag, _ rule: RetryRule, deadline: Duration?,
        silence: Duration? = nil,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>?, RPCStatus) -> Void
    ) {
        switch target {
        case .document(let path):
            let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: [path]))
            startCall(request, tag, rule, deadline: deadline ?? silence) { [self] replies, status in
                guard status.code == .ok, state == .running else { return completion(nil, status) }
                completion(
                    Result { try store(replies) }.mapError(SyncError.init(storing:)), status)
            }
        case .query(var query):
            query.projection = nil
            startRead(
                query, tag, rule, deadline: deadline, silence: silence, mayMixTimes: true
            ) { [self, query] end in
                switch end {
                case .failed(let status): completion(nil, status)
                case .storage(let error): completion(.failure(error), .ok)
                case .rows(let answer):
                    guard state == .running else { return completion(nil, .ok) }
                    store(answer, of: query) { completion($0, .ok) }
                }
            }
        }
    }

    /// The answer to a question for one document.
    private func store(_ replies: [Reply]) throws -> ReadResult {
        for case .batchGetDocuments(let reply) in replies {
            guard let row = reply.row else { continue }
            let document: RemoteDocument
            let path: DocumentPath
            switch row {
            case .found(let found): (document, path) = (.found(found), found.path)
            case .missing(let missing):
                (document, path) = (.missing(missing, reply.readTime), missing)
            }
            let changed = try local.remote.apply([document], readTime: reply.readTime)
            refreshViews(changed, nil, awaiting: reply.readTime)
            let shown = try local.documents.document(at: path).viewDocument
            return ReadResult(
                documents: shown.map { [$0] } ?? [], freshness: .fresh(readTime: reply.readTime))
        }
        throw SyncError.server(RPCStatus(.internal, "The server sent no result."))
    }

    // MARK: What is here

    /// What a listener is being kept up to date with needs no call.
    private func live(_ target: ReadTarget) -> ReadResult? {
        let query: Query
        switch target {
        case .document(let path): query = .document(path, in: database)
        case .query(let asked): query = asked
        }
        guard online.state == .online, listenStream.isOpen,
            let view = queries[QueryKey(query)]?.view, view.isFresh, let time = view.readTime
        else { return nil }
        return ReadResult(documents: view.documents, freshness: .fresh(readTime: time))
    }

    /// - Parameter completion: Called at once, unless the cache has to be looked through for long.
    func cached(
        _ target: ReadTarget, _ reason: StaleReason, _ completion: @escaping ReadCompletion
    ) {
        do {
            switch target {
            case .document(let path): completion(try cachedDocument(path, reason))
            case .query(let query): try cachedQuery(query, reason, completion)
            }
        } catch { completion(.failure(SyncError(storing: error))) }
    }

    private func cachedDocument(
        _ path: DocumentPath, _ reason: StaleReason
    ) throws -> Result<ReadResult, SyncError> {
        let document = try local.documents.document(at: path)
        guard document.kind == .found || document.kind == .missing else {
            return .failure(.notInCache(reason: reason))
        }
        return .success(
            ReadResult(
                documents: document.viewDocument.map { [$0] } ?? [],
                freshness: .stale(age: document.readTime.map(age), reason: reason)))
    }

    private func cachedQuery(
        _ query: Query, _ reason: StaleReason, _ completion: @escaping ReadCompletion
    ) throws {
        defer { wantIndexes() }
        if let rows = try local.documents.run(query, lookingAt: mostAtOnce) {
            return completion(.success(try result(query, rows.compactMap(\.viewDocument), reason)))
        }
        let read = QueryRead(query, local)
        _ = beginLater(read) { [weak self] error in
            if let error { return completion(.failure(error)) }
            self?.show(read.rows) { [weak self] documents in
                guard let self else { return }
                completion(
                    Result { try self.result(query, documents, reason) }
                        .mapError(SyncError.init(storing:)))
            }
        }
    }

    private func result(
        _ query: Query, _ documents: [ViewDocument], _ reason: StaleReason
    ) throws -> ReadResult {
        let confirmed = try local.targets.confirmed(query.wireForm)
        return ReadResult(
            documents: documents, freshness: .stale(age: confirmed.map(age), reason: reason),
            isKnown: confirmed != nil || !documents.isEmpty)
    }

    /// By the device's clock, which may be wrong; never negative.
    func age(_ time: Timestamp) -> Duration {
        max(.zero, environment.now().duration(since: time))
    }
}

extension RPCStatus.Code {
    /// Whether the same call may well go through a little later, so that the cache may answer now.
    fileprivate var mayPass: Bool {
        switch self {
        case .unavailable, .deadlineExceeded, .cancelled, .unknown, .internal, .resourceExhausted,
            .aborted:
            true
        case .ok, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
            .failedPrecondition, .outOfRange, .unimplemented, .dataLoss, .unauthenticated:
            false
        }
    }
}
