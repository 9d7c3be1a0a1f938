import TidemarkModel

/// The listen streams, what they were told, and what that costs. Everything that goes out on one goes
/// out here.
final class Listens {
    private let clocks: DatabaseClocks
    private let meter: UsageMeter
    let billing: Billing
    private let executor: any ServerExecutor

    private var registry = ListenRegistry()
    private var endings = ListenEndings()
    /// When quiet streams get a new token, by the executor's time; nil while nobody listens.
    private(set) var nextRefresh: Duration?

    init(
        _ clocks: DatabaseClocks, _ meter: UsageMeter, _ billing: Billing,
        _ executor: any ServerExecutor
    ) {
        self.clocks = clocks
        self.meter = meter
        self.billing = billing
        self.executor = executor
    }

    // MARK: Streams

    subscript(id: CallID) -> ListenStream? { registry.streams[id] }

    func open(_ id: CallID, _ context: CallContext) { registry.open(id, context) }

    /// The stream's reader has no room.
    func pause(_ id: CallID) { registry.update(id) { $0.isHeld = true } }

    /// The stream's reader has room again.
    func resume(_ id: CallID) { registry.update(id) { $0.isHeld = false } }

    func setLag(_ lag: StreamLag?, of id: CallID) { registry.update(id) { $0.lag = lag } }

    /// Notes the highest target id that the server has chosen.
    func noteAssigned(_ target: Int32, of id: CallID) {
        registry.update(id) { $0.lastAssigned = target }
    }

    /// - Returns: The streams there were.
    func forgetAll() -> [CallID] {
        defer { registry = ListenRegistry() }
        return registry.streamIDs
    }

    // MARK: Targets

    /// Listens to a target from now on.
    func add(_ target: LiveTarget) {
        registry.add(target)
        if nextRefresh == nil { nextRefresh = executor.uptime + Self.quietInterval }
    }

    func remove(_ id: Int32, of streamID: CallID) {
        registry.remove(id, of: streamID)
        registry.update(streamID) { $0.lag?.remove(id) }
    }

    /// True while the target is listened to.
    func contains(_ target: LiveTarget) -> Bool { registry.contains(target) }

    /// Notes what the rules have read for a target.
    func setRulesReads(_ reads: Set<DocumentPath>, of target: LiveTarget) {
        registry.setRulesReads(reads, of: target)
    }

    /// Every target with its stream, in the order in which they came.
    var allTargets: [(stream: ListenStream, target: LiveTarget)] {
        registry.streams.sorted { $0.key < $1.key }.flatMap { _, stream in
            stream.targets.values.sorted { $0.id < $1.id }.map { (stream, $0) }
        }
    }

    /// All targets of a database, by stream and id.
    func targets(in database: DatabaseID) -> [LiveTarget] { registry.targets(in: database) }

    /// The targets that may see a document.
    func targets(near path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        registry.targets(near: path, in: database)
    }

    /// The targets for which the rules have read a document.
    func targets(judgedBy path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        registry.targets(judgedBy: path, in: database)
    }

    /// The targets whose windows the changes may have moved.
    func windowedTargets(
        touchedBy changes: [DocumentDifference], in database: DatabaseID
    ) -> [LiveTarget] {
        registry.windowedTargets(touchedBy: changes, in: database)
    }

    // MARK: What streams are told

    /// Tells a stream one step, and the boundary of the new state.
    func emit(
        _ snapshot: StreamSnapshot, _ streamID: CallID, _ time: Timestamp,
        _ outputs: inout [Output]
    ) {
        guard let stream = registry.streams[streamID] else { return }
        if stream.isHeld || stream.lag != nil { return holdBack(streamID, &outputs) }
        for response in snapshot.responses(readTime: time) { outputs.append(streamID, response) }
        // Commits of one batch are told one after the other, and a stream may be cut between them:
        // the token reaches no further than this one, though all of them are made.
        boundary(streamID, clocks.resumeToken(at: time), &outputs)
        for (id, reads) in snapshot.readsByTarget {
            if let target = stream.targets[id] { bill(reads, to: target) }
        }
    }

    /// Says that all targets of the stream are as of the token's time.
    private func boundary(
        _ streamID: CallID, _ token: ResumeToken, isNews: Bool = true, _ outputs: inout [Output]
    ) {
        outputs.append(
            streamID,
            .targetChange(
                TargetChange(.noChange, resumeToken: token.bytes, readTime: token.readTime)))
        registry.update(streamID) {
            $0.readTime = token.readTime
            if isNews { $0.newsTime = token.readTime }
        }
    }

    /// Says that the stream is at a snapshot: of all that was committed.
    func sendBoundary(_ streamID: CallID, _ scope: ReadScope, _ outputs: inout [Output]) {
        let token = clocks.resumeToken(scope.database, readTime: scope.readTime)
        boundary(streamID, token, &outputs)
    }

    /// Says that a target is there, and that the stream is at a snapshot with it.
    func sendCurrent(_ target: LiveTarget, _ scope: ReadScope, _ outputs: inout [Output]) {
        let token = clocks.resumeToken(scope.database, readTime: scope.readTime)
        outputs.append(
            target.streamID,
            .targetChange(
                TargetChange(
                    .current, targetIDs: [target.id], resumeToken: token.bytes,
                    readTime: scope.readTime)))
        boundary(target.streamID, token, &outputs)
    }

    // MARK: Lag

    /// Notes that a commit has changed something for a stream that cannot be told now.
    private func holdBack(_ streamID: CallID, _ outputs: inout [Output]) {
        guard let stream = registry.streams[streamID], stream.lag == nil else { return }
        registry.update(streamID) { $0.lag = StreamLag(since: stream.readTime) }
        outputs.append(Output(id: streamID, event: .unfinished))
    }

    /// Lets a target wait until the stream is at a snapshot again.
    func queue(_ request: ListenTarget, _ streamID: CallID, _ outputs: inout [Output]) {
        var isQueued = false
        registry.update(streamID) { isQueued = $0.lag?.queue(request) ?? false }
        if isQueued { return }
        let status = RPCStatus(.resourceExhausted, "Too many targets wait on the stream.")
        close(streamID, status, &outputs)
    }

    // MARK: Quiet streams

    /// How often quiet streams are told something; so none is quiet for longer than one and a half of
    /// it. Production sends quiet streams a boundary now and then too;
    /// how often is not documented. Source: server-protocol 1.9.11.
    private static let quietInterval = Duration.seconds(60)

    /// Tells quiet streams that nothing has changed for them, with a token of now: one that stays where
    /// the last change was falls out of the log, and a resume from it is billed in full.
    ///
    /// Before the writes of a turn: all that is committed has been told.
    func refreshTokens(_ outputs: inout [Output]) {
        let uptime = executor.uptime
        guard let due = nextRefresh, due <= uptime else { return }
        nextRefresh = nil
        for (id, stream) in registry.streams.sorted(by: { $0.key < $1.key })
        where !stream.targets.isEmpty {
            nextRefresh = uptime + Self.quietInterval
            // What lags is told later, and is at no boundary until then.
            if stream.isHeld || stream.lag != nil { continue }
            let readTime = clocks.takeReadTime(stream.database)
            // One that was told something since half a round is not quiet.
            if let last = stream.readTime, readTime.duration(since: last) < Self.quietInterval / 2 {
                continue
            }
            let token = clocks.resumeToken(stream.database, readTime: readTime)
            boundary(id, token, isNews: false, &outputs)
        }
    }

    // MARK: Costs and ends

    /// Counts what a target was sent.
    func bill(_ reads: Int, to target: LiveTarget) {
        guard let stream = registry.streams[target.streamID] else { return }
        meter.countReads(reads, by: .listen, stream.context, on: target.meterTarget)
        registry.update(target.streamID) { $0.usage.reads += reads }
    }

    /// Notes what the meter has counted for a stream already.
    func noteReads(_ reads: Int, of streamID: CallID) {
        if reads > 0 { registry.update(streamID) { $0.usage.reads += reads } }
    }

    /// Ends a stream, where there is one, and tells its client.
    func close(_ id: CallID, _ status: RPCStatus, _ outputs: inout [Output]) {
        guard let stream = registry.streams[id], registry.close(id) else { return }
        if let readTime = stream.readTime {
            // A client that is killed may hold either: not every one keeps each quiet token.
            for time in Set([readTime, stream.newsTime ?? readTime]) {
                endings.note(clocks.now, ListenEndings.Place(stream.database, time))
            }
        }
        let status = status.reporting(stream.usage, to: stream.context)
        outputs.append(Output(id: id, event: .ended(status)))
    }

    /// Whether a listen that resumes from here is billed for the changes only. A stream on which
    /// nothing happened has an old token when it is cut: what counts is when it was.
    func isBilledByChange(_ token: ResumeToken, _ database: DatabaseID) -> Bool {
        let ending = endings[ListenEndings.Place(database, token.readTime)]
        let lastHeard = max(token.readTime, ending ?? token.readTime)
        return clocks.now.duration(since: lastHeard) <= billing.resumeWindow
    }
}

extension [Output] {
    mutating func append(_ id: CallID, _ response: ListenResponse) {
        append(Output(id: id, event: .listen(response)))
    }
}
