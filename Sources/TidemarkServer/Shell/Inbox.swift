import TidemarkModel

/// The commands that wait for the core.
struct Inbox {
    /// Commands that may wait; one more is refused.
    static let capacity = 20_000
    /// Bytes that the waiting commands may take; one that goes beyond is refused.
    static let maxBytes = 256 << 20
    /// How many commands one turn of the core takes, and so how many commits may share a sync.
    static let batchSize = 512

    private var commands: [Command] = []
    private var bytes = 0
    private var isScheduled = false
    var isClosed = false

    /// What came of an offered command: its caller must schedule a turn, need not, or was refused.
    enum Admission { case schedule, queued, refused(RPCStatus) }

    /// - Parameter size: About what the command takes in memory, in bytes.
    mutating func offer(_ command: Command, size: Int) -> Admission {
        if isClosed { return .refused(RPCStatus(.unavailable, "The server is shutting down.")) }
        let isFull = commands.count >= Self.capacity || bytes + size > Self.maxBytes
        if isFull, !commands.isEmpty {
            return .refused(
                RPCStatus(.resourceExhausted, "The server has too many requests waiting."))
        }
        return queue(command, size)
    }

    /// Takes a command of the server's own, of which there are few a call.
    mutating func take(_ command: Command) -> Admission { queue(command, 0) }

    private mutating func queue(_ command: Command, _ size: Int) -> Admission {
        commands.append(command)
        bytes += size
        if isScheduled { return .queued }
        isScheduled = true
        return .schedule
    }

    /// The next commands in order, none when nothing waits.
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

    /// Whether a turn is still owed to commands that wait.
    var owesTurn: Bool { isScheduled }
}

/// Who hears what the core says.
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
        /// It has no room.
        var isPaused = false
        /// The core waits for it to have room.
        var isAwaited = false
        /// The core has been told to proceed, and has not begun to.
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

    /// - Returns: Whether to tell the core to proceed: it waits, or was told to hold a listen.
    mutating func resume(_ id: CallID) -> Bool {
        guard let entry = byID[id], entry.isPaused else { return false }
        byID[id]?.isPaused = false
        if case .listen = entry.sink { return tellToProceed(id) }
        return entry.isAwaited ? tellToProceed(id) : false
    }

    /// The core has more to say to the sink.
    ///
    /// - Returns: Whether to tell it to proceed now, and not when the sink has room.
    mutating func awaitRoom(_ id: CallID) -> Bool {
        guard let entry = byID[id] else { return true }
        byID[id]?.isAwaited = true
        return entry.isPaused ? false : tellToProceed(id)
    }

    /// Once is enough.
    private mutating func tellToProceed(_ id: CallID) -> Bool {
        guard let entry = byID[id], !entry.isProceeding else { return false }
        byID[id]?.isProceeding = true
        return true
    }

    /// - Returns: Whether the core may begin what it was told; not when the sink is paused again.
    mutating func mayProceed(_ id: CallID) -> Bool {
        guard let entry = byID[id] else { return true }
        byID[id]?.isProceeding = false
        byID[id]?.isAwaited = entry.isPaused
        return !entry.isPaused
    }
}
