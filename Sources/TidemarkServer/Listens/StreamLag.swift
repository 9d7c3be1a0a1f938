import TidemarkModel
import TidemarkStore

/// What keeps a stream from its next snapshot: a target whose first answer goes out in parts, or a
/// reader without room. Commits are not queued for it. What they changed is in the log, and the stream
/// is told all of it as one step, once it can be (Decisions/0010).
struct StreamLag {
    /// Targets that may wait to be added on one stream, and the bytes that they may take.
    static let maxWaiting = 10_000
    static let maxWaitingBytes = 16 << 20

    /// As of when its targets were told last; nil when it has had none.
    let since: Timestamp?
    var opening: PartialOpening?
    /// Targets that its client has added meanwhile, in order.
    private(set) var waiting: [ListenTarget] = []
    private var waitingBytes = 0

    init(since: Timestamp?, opening: PartialOpening? = nil) {
        self.since = since
        self.opening = opening
    }

    /// - Returns: False when too many wait.
    mutating func queue(_ request: ListenTarget) -> Bool {
        waitingBytes += 512 + request.size
        if waiting.count >= Self.maxWaiting || waitingBytes > Self.maxWaitingBytes { return false }
        waiting.append(request)
        return true
    }

    /// Forgets a target that is not there yet.
    mutating func remove(_ id: Int32) {
        if opening?.target.id == id { opening = nil }
        waiting.removeAll { $0.id == id }
    }
}

extension ServerCore {
    /// Notes that a commit has changed something for a stream that cannot be told now.
    func holdBack(_ streamID: CallID, _ outputs: inout [Output]) {
        guard let stream = listens.streams[streamID], stream.lag == nil else { return }
        listens.update(streamID) { $0.lag = StreamLag(since: stream.readTime) }
        outputs.append(Output(id: streamID, event: .unfinished))
    }

    /// Lets a target wait until the stream is at a snapshot again.
    func queue(_ request: ListenTarget, _ streamID: CallID, _ outputs: inout [Output]) {
        var isQueued = false
        listens.update(streamID) { isQueued = $0.lag?.queue(request) ?? false }
        if isQueued { return }
        let status = RPCStatus(.resourceExhausted, "Too many targets wait on the stream.")
        closeListen(streamID, status, &outputs)
    }

    /// Goes on with what a stream lags behind with; its reader has room.
    func catchUp(_ streamID: CallID, _ transaction: StoreTransaction, _ outputs: inout [Output]) {
        listens.update(streamID) { $0.isHeld = false }
        guard let stream = listens.streams[streamID], var lag = stream.lag else { return }
        let oldest = [lag.since, lag.opening?.readTime].compactMap { $0 }.min()
        if let oldest, oldest.microseconds < databases[stream.database]?.logStart ?? 0 {
            let status = RPCStatus(
                .resourceExhausted,
                "The stream was read so slowly that what it has missed is no longer kept.")
            return closeListen(streamID, status, &outputs)
        }
        let start = outputs.count
        do {
            if let opening = lag.opening, !opening.isWhole {
                let scope = pastScope(opening.readTime, stream.database, transaction)
                try lag.opening?.sendPart(self, scope, &outputs)
                listens.update(streamID) { $0.lag = lag }
                outputs.append(Output(id: streamID, event: .unfinished))
                return
            }
            try tell(stream, lag, latestScope(stream.database, transaction), &outputs)
        } catch {
            outputs.removeSubrange(start...)
            return closeListen(streamID, RPCStatus(storeFailure: error), &outputs)
        }
        listens.update(streamID) { $0.lag = nil }
        // One of them may make the stream lag again, and the others wait on.
        for request in lag.waiting { addTarget(request, streamID, transaction, &outputs) }
    }

    /// Tells a stream all that has changed since its last snapshot, and that its new target is there.
    private func tell(
        _ stream: ListenStream, _ lag: StreamLag, _ scope: ReadScope, _ outputs: inout [Output]
    ) throws {
        if let since = lag.since {
            for target in stream.targets.values.sorted(by: { $0.id < $1.id }) {
                bill(try tell(target, since: since, scope, &outputs), to: target)
            }
        }
        if let opening = lag.opening {
            let target = opening.target
            // The filter is of what was sent, and not of what has changed since.
            opening.sendFilter(stream.database, &outputs)
            let changes = try tell(target, since: opening.readTime, scope, &outputs)
            bill(opening.reads + changes, to: target)
            sendCurrent(target, scope, &outputs)
            begin(target, opening.request, &outputs)
        } else if let streamID = stream.targets.values.first?.streamID {
            boundary(streamID, resumeToken(scope.database, readTime: scope.readTime), &outputs)
        }
    }

    /// - Returns: What is billed for it.
    private func tell(
        _ target: LiveTarget, since time: Timestamp, _ scope: ReadScope, _ outputs: inout [Output]
    ) throws -> Int {
        let delta = try TargetDelta(of: target, since: time, scope)
        for response in delta.snapshot.responses(readTime: scope.readTime) {
            outputs.append(target.streamID, response)
        }
        return delta.snapshot.readsByTarget.values.reduce(0, +)
    }

    /// Says that a target is there, and that the stream is at a snapshot with it.
    func sendCurrent(_ target: LiveTarget, _ scope: ReadScope, _ outputs: inout [Output]) {
        let token = resumeToken(scope.database, readTime: scope.readTime)
        outputs.append(
            target.streamID,
            .targetChange(
                TargetChange(
                    .current, targetIDs: [target.id], resumeToken: token.bytes,
                    readTime: scope.readTime)))
        boundary(target.streamID, token, &outputs)
    }
}
