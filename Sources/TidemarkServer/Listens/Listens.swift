import TidemarkModel

/// The listen streams, the data that they have received, and their bills. All messages to listen
/// streams are sent from here.
final class Listens {
    private let clocks: DatabaseClocks
    private let meter: UsageMeter
    let billing: Billing
    private let admission: QueryAdmission
    private let executor: any ServerExecutor

    private var registry = ListenRegistry()
    private var endings = ListenEndings()
    /// The time of the next token for quiet streams, by the executor's time; nil if there are no
    /// targets.
    private(set) var nextRefresh: Duration?

    init(
        _ clocks: DatabaseClocks, meter: UsageMeter, billing: Billing,
        admission: QueryAdmission, executor: any ServerExecutor
    ) {
        self.admission = admission
        self.clocks = clocks
        self.meter = meter
        self.billing = billing
        self.executor = executor
    }

    // MARK: Streams

    subscript(id: CallID) -> ListenStream? { registry.streams[id] }

    func open(_ id: CallID, _ context: CallContext) { registry.open(id, context) }

    /// Records that the stream's reader has no room.
    func pause(_ id: CallID) { registry.update(id) { $0.isHeld = true } }

    /// Records that the stream's reader has room again.
    func resume(_ id: CallID) { registry.update(id) { $0.isHeld = false } }

    func setLag(_ lag: StreamLag?, of id: CallID) { registry.update(id) { $0.lag = lag } }

    /// Records the highest target id that the server has chosen.
    func noteAssigned(_ target: Int32, of id: CallID) {
        registry.update(id) { $0.lastAssigned = target }
    }

    /// - Returns: The ids of all streams.
    func forgetAll() -> [CallID] {
        defer { registry = ListenRegistry() }
        return registry.streamIDs
    }

    // MARK: Targets

    /// Starts to listen to a target.
    func add(_ target: LiveTarget) {
        registry.add(target)
        if nextRefresh == nil { nextRefresh = executor.uptime + Self.quietInterval }
    }

    func remove(_ id: Int32, of streamID: CallID) {
        registry.remove(id, of: streamID)
        registry.update(streamID) { $0.lag?.remove(id) }
    }

    /// Returns false if the targets of all streams would name too many documents.
    func hasRoom(for kind: ListenTarget.Kind) -> Bool { registry.hasRoom(for: kind) }

    /// Returns true if the target is active.
    func contains(_ target: LiveTarget) -> Bool { registry.contains(target) }

    /// Records the documents that the rules have read for a target.
    func setRulesReads(_ reads: Set<DocumentPath>, of target: LiveTarget) {
        registry.setRulesReads(reads, of: target)
    }

    /// The targets of all streams, by stream and id.
    var allTargets: [(stream: ListenStream, target: LiveTarget)] {
        registry.streams.sorted { $0.key < $1.key }.flatMap { _, stream in
            stream.targets.values.sorted { $0.id < $1.id }.map { (stream, $0) }
        }
    }

    /// Returns all targets of a database, by stream and id.
    func targets(in database: DatabaseID) -> [LiveTarget] { registry.targets(in: database) }

    /// Returns the targets that can contain a document.
    func targets(near path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        registry.targets(near: path, in: database)
    }

    /// Returns the targets for which the rules have read a document.
    func targets(judgedBy path: DocumentPath, in database: DatabaseID) -> [LiveTarget] {
        registry.targets(judgedBy: path, in: database)
    }

    /// Returns the targets whose windows the changes may have moved.
    func windowedTargets(
        touchedBy changes: [DocumentDifference], in database: DatabaseID
    ) -> [LiveTarget] {
        registry.windowedTargets(touchedBy: changes, in: database)
    }

    // MARK: Messages to streams

    /// Sends a stream the changes of a snapshot, and the boundary of the new state.
    func emit(
        _ snapshot: StreamSnapshot, streamID: CallID, time: Timestamp,
        outputs: inout [Output]
    ) {
        guard let stream = registry.streams[streamID] else { return }
        if stream.isHeld || stream.lag != nil { return holdBack(streamID, &outputs) }
        for response in snapshot.responses(readTime: time) { outputs.append(streamID, response) }
        // The commits of a batch are sent one after the other, and a stream can be cut between
        // them. Therefore, the token refers to this commit, even if later commits are already done.
        boundary(streamID, token: clocks.resumeToken(at: time), outputs: &outputs)
        for (id, reads) in snapshot.readsByTarget {
            guard let target = stream.targets[id] else { continue }
            let units = BilledUnits(realtimeUpdate: snapshot.unitsByTarget[id] ?? 0)
            bill(Usage(reads: reads, units: units), to: target)
        }
    }

    /// Sends the boundary: all targets of the stream are in the state of the token.
    private func boundary(
        _ streamID: CallID, token: ResumeToken, isNews: Bool = true, outputs: inout [Output]
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

    /// Sends the boundary of a snapshot that contains all commits.
    func sendBoundary(_ streamID: CallID, scope: ReadScope, outputs: inout [Output]) {
        let token = clocks.resumeToken(scope.database, readTime: scope.readTime)
        boundary(streamID, token: token, outputs: &outputs)
    }

    /// Sends that a target is current, and the boundary of the snapshot that contains it.
    func sendCurrent(_ target: LiveTarget, scope: ReadScope, outputs: inout [Output]) {
        let token = clocks.resumeToken(scope.database, readTime: scope.readTime)
        outputs.append(
            target.streamID,
            .targetChange(
                TargetChange(
                    .current, targetIDs: [target.id], resumeToken: token.bytes,
                    readTime: scope.readTime)))
        boundary(target.streamID, token: token, outputs: &outputs)
    }

    // MARK: Lag

    /// Records that a commit has changed the targets of a stream that cannot receive it now.
    private func holdBack(_ streamID: CallID, _ outputs: inout [Output]) {
        guard let stream = registry.streams[streamID], stream.lag == nil else { return }
        registry.update(streamID) { $0.lag = StreamLag(since: stream.readTime) }
        outputs.append(Output(id: streamID, event: .unfinished))
    }

    /// Queues a target until the stream has reached a snapshot again.
    func queue(_ request: ListenTarget, streamID: CallID, outputs: inout [Output]) {
        var isQueued = false
        registry.update(streamID) { isQueued = $0.lag?.queue(request) ?? false }
        if isQueued { return }
        let status = RPCStatus(.resourceExhausted, "Too many targets are waiting on the stream.")
        close(streamID, status: status, outputs: &outputs)
    }

    // MARK: Quiet streams

    /// The interval of boundaries for quiet streams. A stream receives nothing for at most 1.5
    /// intervals. Production also sends boundaries to quiet streams; its interval is not
    /// documented. Source: server-protocol 1.9.11.
    private static let quietInterval = Duration.seconds(60)

    /// Sends quiet streams a boundary with a current token. An older token would leave the range of
    /// the log, and a resume from it would be billed in full.
    ///
    /// Must be called before the writes of a turn: at that time, all commits have been sent.
    func refreshTokens(_ outputs: inout [Output]) {
        let uptime = executor.uptime
        guard let due = nextRefresh, due <= uptime else { return }
        nextRefresh = nil
        for (id, stream) in registry.streams.sorted(by: { $0.key < $1.key })
        where !stream.targets.isEmpty {
            nextRefresh = uptime + Self.quietInterval
            // A lagging stream receives its boundary later, after it has caught up.
            if stream.isHeld || stream.lag != nil { continue }
            let readTime = clocks.takeReadTime(stream.database)
            // A stream that received a boundary in the last half interval is not quiet.
            if let last = stream.readTime, readTime.duration(since: last) < Self.quietInterval / 2 {
                continue
            }
            let token = clocks.resumeToken(stream.database, readTime: readTime)
            boundary(id, token: token, isNews: false, outputs: &outputs)
        }
    }

    // MARK: Costs and ends

    /// Returns the label under which the targets that a stream now adds are counted.
    func label(of stream: ListenStream) -> String? { meter.labelled(stream.context).label }

    /// Returns true if a database is billed by units.
    func isBilledByUnits(_ database: DatabaseID) -> Bool { admission.isBilledByUnits(database) }

    /// Returns the counter of a target's read units; nil for the Standard edition, and for a target
    /// that names documents.
    func units(of target: LiveTarget, in database: DatabaseID) -> QueryUnits? {
        guard case .query(let query) = target.kind, isBilledByUnits(database) else { return nil }
        return QueryUnits(query, admission.requirement(query, [], in: database))
    }

    /// Records a listener that scanned, because no index serves its query.
    func note(_ units: QueryUnits?, _ context: CallContext) {
        if let units, !context.isUnbilled { admission.note(units, in: context.database) }
    }

    /// Bills a target for the sent documents.
    ///
    /// - Parameters:
    ///   - usage: The reads, and the units of a database of the Enterprise edition.
    ///   - part: The part of the target's life to which the reads belong.
    func bill(_ usage: Usage, to target: LiveTarget, part: ReadSubject.Part = .more) {
        guard let stream = registry.streams[target.streamID] else { return }
        var context = stream.context
        context.label = target.label
        meter.countReads(
            usage.reads, by: .listen, context, on: target.meterTarget, units: usage.units,
            of: target.subject(part))
        registry.update(target.streamID) {
            $0.usage += usage
        }
    }

    /// Adds reads to a stream's bill that the meter has already counted.
    func noteReads(_ reads: Int, of streamID: CallID) {
        guard reads > 0, let stream = registry.streams[streamID] else { return }
        let units = meter.billedUnits(
            nil, reads: reads, context: stream.context, target: MeterDetail.ofRules)
        registry.update(streamID) { $0.usage += Usage(reads: reads, units: units) }
    }

    /// Ends a stream, if it exists, and informs its client.
    func close(_ id: CallID, status: RPCStatus, outputs: inout [Output]) {
        guard let stream = registry.streams[id], registry.close(id) else { return }
        if let readTime = stream.readTime {
            // A killed client can have either token, because some clients do not store the tokens
            // of quiet streams.
            for time in Set([readTime, stream.newsTime ?? readTime]) {
                endings.note(clocks.now, ListenEndings.Place(stream.database, time))
            }
        }
        let status = status.reporting(stream.usage, to: stream.context)
        outputs.append(Output(id: id, event: .ended(status)))
    }

    /// Returns true if a listen that resumes with the token is billed only for the changes. A quiet
    /// stream can have an old token at its end, so the time of the end also counts.
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
