import TidemarkModel

extension ServerCore {
    /// Counts what a target was sent.
    func bill(_ reads: Int, to target: LiveTarget) {
        guard let stream = listens.streams[target.streamID] else { return }
        meter.countReads(reads, by: .listen, stream.context, on: target.meterTarget)
        listens.update(target.streamID) { $0.usage.reads += reads }
    }

    /// Ends a stream.
    ///
    /// - Returns: Whether there was one: then its client has been told.
    func closeListen(_ id: CallID, _ status: RPCStatus, _ outputs: inout [Output]) {
        guard let stream = listens.streams[id], listens.close(id) else { return }
        if let readTime = stream.readTime {
            // A client that is killed may hold either: not every one keeps each quiet token.
            for time in Set([readTime, stream.newsTime ?? readTime]) {
                listenEndings.note(now, ListenEndings.Place(stream.database, time))
            }
        }
        let status = status.reporting(stream.usage, to: stream.context)
        outputs.append(Output(id: id, event: .ended(status)))
    }

    /// Whether a listen that resumes from here is billed for the changes only. A stream on which
    /// nothing happened has an old token when it is cut: what counts is when it was.
    func isBilledByChange(_ token: ResumeToken, _ database: DatabaseID) -> Bool {
        let ending = listenEndings[ListenEndings.Place(database, token.readTime)]
        let lastHeard = max(token.readTime, ending ?? token.readTime)
        return now.duration(since: lastHeard) <= configuration.billing.resumeWindow
    }
}

/// When streams ended, by where they were then: the newest of them.
struct ListenEndings {
    /// Beyond this the oldest are forgotten; their listens are billed by the age of their tokens.
    static let capacity = 10_000

    struct Place: Hashable {
        let database: DatabaseID
        /// Of the last boundary that was told: what a token has.
        let readTime: Timestamp

        init(_ database: DatabaseID, _ readTime: Timestamp) {
            self.database = database
            self.readTime = readTime
        }
    }

    private var times: [Place: Timestamp] = [:]
    private var order: [Place] = []

    subscript(place: Place) -> Timestamp? { times[place] }

    mutating func note(_ time: Timestamp, _ place: Place) {
        if times.updateValue(time, forKey: place) == nil { order.append(place) }
        guard order.count > 2 * Self.capacity else { return }
        for old in order.prefix(Self.capacity) { times[old] = nil }
        order.removeFirst(Self.capacity)
    }
}
