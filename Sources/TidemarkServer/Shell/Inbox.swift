import TidemarkModel

/// The commands that wait for the core.
struct Inbox {
    /// The maximum number of waiting commands; further commands are refused.
    static let capacity = 20_000
    /// The maximum bytes of the waiting commands. A command that exceeds them is refused, unless no
    /// other command waits.
    static let maxBytes = 256 << 20
    /// The maximum number of commands in a turn of the core, and so of commits that share a sync.
    static let batchSize = 512

    private var commands: [Command] = []
    private var bytes = 0
    private var isScheduled = false
    var isClosed = false

    /// The result of offering a command: the caller must schedule a turn, need not, or the command
    /// was refused.
    enum Admission { case schedule, queued, refused(RPCStatus) }

    /// - Parameter size: The approximate memory of the command, in bytes.
    mutating func offer(_ command: Command, size: Int) -> Admission {
        if isClosed { return .refused(RPCStatus(.unavailable, "The server is shutting down.")) }
        let isFull = commands.count >= Self.capacity || bytes + size > Self.maxBytes
        if isFull, !commands.isEmpty {
            return .refused(
                RPCStatus(.resourceExhausted, "The server has too many requests waiting."))
        }
        return queue(command, size)
    }

    /// Takes a command of the server itself; each call has few of them.
    mutating func take(_ command: Command) -> Admission { queue(command, 0) }

    private mutating func queue(_ command: Command, _ size: Int) -> Admission {
        commands.append(command)
        bytes += size
        if isScheduled { return .queued }
        isScheduled = true
        return .schedule
    }

    /// Returns the next commands in order; none if nothing waits.
    mutating func takeBatch() -> [Command] {
        if commands.count <= Self.batchSize {
            defer { commands = [] }
            isScheduled = false
            bytes = 0
            return commands
        }
        let batch = Array(commands.prefix(Self.batchSize))
        commands.removeFirst(Self.batchSize)
        bytes -= batch.reduce(0) { $0 + $1.size }
        return batch
    }

    /// True if waiting commands still need a turn.
    var owesTurn: Bool { isScheduled }
}

/// The receivers of the core's outputs.
struct Sinks {
    enum Sink: Sendable {
        case call(@Sendable (StreamEvent<Reply>) -> Void)
        case listen(@Sendable (StreamEvent<ListenResponse>) -> Void)
        case write(@Sendable (StreamEvent<WriteResponse>) -> Void)

        func receive(_ event: Output.Event) {
            switch (self, event) {
            case (.call(let receive), .reply(let reply)): receive(.message(reply))
            case (.call(let receive), .ended(let status)): receive(.ended(status))
            case (.listen(let receive), .listen(let response)): receive(.message(response))
            case (.listen(let receive), .ended(let status)): receive(.ended(status))
            case (.write(let receive), .write(let response)): receive(.message(response))
            case (.write(let receive), .ended(let status)): receive(.ended(status))
            case (_, .unfinished): break
            case (.call, .listen), (.call, .write), (.listen, .reply), (.listen, .write),
                (.write, .reply), (.write, .listen):
                assertionFailure("an event of another kind of call")
            }
        }
    }

    private struct Entry {
        let sink: Sink
        /// True if the sink has no room.
        var isPaused = false
        /// True if the core waits until the sink has room.
        var isAwaited = false
        /// True if the core was asked to proceed, and has not begun to.
        var isProceeding = false
    }

    private var byID: [CallID: Entry] = [:]
    private var lastID: CallID = 0

    mutating func add(_ sink: Sink) -> CallID {
        lastID += 1
        byID[lastID] = Entry(sink: sink)
        return lastID
    }

    subscript(id: CallID) -> Sink? { byID[id]?.sink }

    mutating func remove(_ id: CallID) -> Sink? { byID.removeValue(forKey: id)?.sink }

    mutating func pause(_ id: CallID) { byID[id]?.isPaused = true }

    /// - Returns: True if the core must be asked to proceed: it waits, or holds a listen.
    mutating func resume(_ id: CallID) -> Bool {
        guard let entry = byID[id], entry.isPaused else { return false }
        byID[id]?.isPaused = false
        if case .listen = entry.sink { return notifyToProceed(id) }
        return entry.isAwaited ? notifyToProceed(id) : false
    }

    /// Records that the core has more outputs for the sink.
    ///
    /// - Returns: True if the core must be asked to proceed now, and not when the sink has room.
    mutating func awaitRoom(_ id: CallID) -> Bool {
        guard let entry = byID[id] else { return true }
        byID[id]?.isAwaited = true
        return entry.isPaused ? false : notifyToProceed(id)
    }

    /// Returns true only for the first request to proceed.
    private mutating func notifyToProceed(_ id: CallID) -> Bool {
        guard let entry = byID[id], !entry.isProceeding else { return false }
        byID[id]?.isProceeding = true
        return true
    }

    /// - Returns: True if the core may proceed; false if the sink is paused again.
    mutating func mayProceed(_ id: CallID) -> Bool {
        guard let entry = byID[id] else { return true }
        byID[id]?.isProceeding = false
        byID[id]?.isAwaited = entry.isPaused
        return !entry.isPaused
    }
}
