import TidemarkModel
import TidemarkStore

/// A call that is not a stream, until its last reply is there.
struct SingleCall {
    var replies: [Reply] = []
    var handle: (any CancellableCall)?
    var timer: (any CancellableCall)?
    let completion: @Sendable ([Reply], RPCStatus) -> Void
}

extension EngineCore {
    /// No call waits longer, whatever its caller said.
    static let longestCall = Duration.seconds(60)

    /// Makes a call and hands over all its replies at once, with how it ended: not
    /// ``RPCStatus/ok`` means that some may be missing.
    func startCall(
        _ request: Request, deadline: Duration?,
        completion: @escaping @Sendable ([Reply], RPCStatus) -> Void
    ) {
        guard networkEnabled else {
            let reason =
                isReadOnly
                ? "This client only reads a cache that another one has open."
                : "The network is turned off."
            return completion([], RPCStatus(.unavailable, reason))
        }
        let id = nextCallID
        nextCallID += 1
        let scheduler = environment.scheduler
        if silentSince == nil { silentSince = scheduler.elapsed }
        calls[id] = SingleCall(completion: completion)
        let limit = min(deadline ?? Self.longestCall, Self.longestCall)
        calls[id]!.timer = scheduler.schedule(.readDeadline, after: limit) { [weak self] in
            self?.callTookTooLong(id)
        }
        calls[id]!.handle = environment.transport.call(request, context(timeout: limit)) {
            [weak self] event in
            scheduler.enqueue { [weak self] in self?.received(event, call: id) }
        }
    }

    private func received(_ event: StreamEvent<Reply>, call id: UInt64) {
        guard calls[id] != nil else { return }
        switch event {
        case .message(let reply):
            calls[id]!.replies.append(reply)
            heardByCall()
        case .ended(let status): end(id, status)
        }
    }

    private func callTookTooLong(_ id: UInt64) {
        guard let call = calls[id] else { return }
        call.handle?.cancel()
        end(id, RPCStatus(.deadlineExceeded, "The server did not answer in time."))
    }

    private func end(_ id: UInt64, _ status: RPCStatus) {
        guard let call = calls.removeValue(forKey: id) else { return }
        call.timer?.cancel()
        if status.code == .unavailable {
            silentSince = nil
            nextProbe =
                environment.scheduler.elapsed
                + probeBackoff.nextDelay(
                    elapsed: environment.scheduler.elapsed, jitter: environment.random())
            if !listenStream.isOpen { perform(online.step(.callFailed)) }
        } else if status.code != .deadlineExceeded {
            heardByCall()
        }
        call.completion(call.replies, status)
    }

    /// The server is there: streams that wait to try again need not.
    private func heardByCall() {
        guard state == .running else { return }
        let wasOffline = online.state == .offline
        probeBackoff.reset()
        nextProbe = .zero
        heard()
        guard wasOffline else { return }
        performListen(.inhibitBackoff)
        performWrite(.inhibitBackoff)
        startStreams()
    }

    func error(_ status: RPCStatus) -> SyncError {
        state == .terminated ? .terminated : .server(status)
    }

    // MARK: Aggregation

    func aggregate(
        _ query: Query, _ aggregations: [Aggregation], _ deadline: Duration?,
        _ completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        if let refusal { return completion(.failure(refusal)) }
        let request = RunAggregationQueryRequest(
            query: query.wireForm, aggregations: aggregations)
        startCall(.runAggregationQuery(request), deadline: deadline) { [self] replies, status in
            guard status.code == .ok else { return completion(.failure(error(status))) }
            for case .runAggregationQuery(let reply) in replies {
                return completion(.success(reply))
            }
            completion(.failure(.server(RPCStatus(.internal, "The server sent no result."))))
        }
    }

    // MARK: Fetch

    typealias Records = @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]]

    func fetch(
        _ query: Query, _ deadline: Duration?, _ records: @escaping Records,
        _ completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        if let refusal { return completion(.failure(refusal)) }
        var query = query
        query.projection = nil
        let request = RunQueryRequest(query: query.wireForm)
        startCall(.runQuery(request), deadline: deadline) { [self, query] replies, status in
            guard status.code == .ok else { return completion(.failure(error(status))) }
            do {
                let (documents, readTime) = rows(replies, of: query)
                completion(
                    .success(
                        try store(
                            documents, readTime, of: query,
                            records: records(documents, readTime))))
            } catch { completion(.failure(SyncError(storing: error))) }
        }
    }

    /// A query's rows in its order, and as of when.
    func rows(_ replies: [Reply], of query: Query) -> (documents: [Document], readTime: Timestamp) {
        var documents: [Document] = []
        var readTime: Timestamp?
        for case .runQuery(let reply) in replies {
            if let document = reply.document { documents.append(document) }
            if let time = reply.readTime { readTime = max(time, readTime ?? time) }
        }
        if case .last = query.limit { documents.reverse() }
        // A server says it; one that does not is taken at its documents' word.
        let newest = documents.map(\.updateTime).max() ?? local.lastVersion
        return (documents, readTime ?? newest)
    }

    /// Stores what the server returned, and makes of it what a reader sees.
    func store(
        _ documents: [Document], _ readTime: Timestamp, of query: Query,
        records: [String: [UInt8]], isComplete: Bool = false
    ) throws -> ReadResult {
        let changed = try local.apply(
            documents.map(RemoteDocument.found), readTime: readTime, records: records,
            keeping: records.isEmpty ? nil : query, complete: isComplete ? query : nil,
            isListened: { [queries] path in
                // The listen knows better, and will tell.
                queries.values.contains { $0.view.synced.contains(path) }
            })
        refreshViews(changed, nil, awaiting: readTime)
        var plain = query
        plain.offset = 0
        let written = local.pending.paths(in: query)
        var rows = documents.map { LocalDocument(StoredDocument($0, readTime: readTime)) }
        if !written.isEmpty {
            rows = local.merge(plain, rows, try local.documents(at: written))
        }
        return ReadResult(
            documents: rows.compactMap(\.viewDocument), freshness: .fresh(readTime: readTime))
    }
}
