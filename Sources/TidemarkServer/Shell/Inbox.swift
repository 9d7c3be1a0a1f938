import TidemarkModel

/// The commands that wait for the core.
struct Inbox {
    /// Beyond this a caller is refused instead of queued.
    static let capacity = 20_000
    /// How many commands one turn of the core takes, and so how many commits may share a sync.
    static let batchSize = 512

    private var commands: [Command] = []
    private var isScheduled = false
    var isClosed = false

    /// What came of an offered command: its caller must schedule a turn, need not, or was refused.
    enum Admission { case schedule, queued, refused(RPCStatus) }

    mutating func offer(_ command: Command) -> Admission {
        if isClosed { return .refused(RPCStatus(.unavailable, "The server is shutting down.")) }
        if commands.count >= Self.capacity {
            return .refused(
                RPCStatus(.resourceExhausted, "The server has too many requests waiting."))
        }
        commands.append(command)
        if isScheduled { return .queued }
        isScheduled = true
        return .schedule
    }

    /// The next commands in order, none when nothing waits.
    mutating func takeBatch() -> [Command] {
        if commands.count <= Self.batchSize {
            defer { commands = [] }
            isScheduled = false
            return commands
        }
        let batch = Array(commands.prefix(Self.batchSize))
        commands.removeFirst(Self.batchSize)
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
            case (.call, .listen), (.call, .write), (.listen, .reply), (.listen, .write),
                (.write, .reply), (.write, .listen):
                assertionFailure("an event of another kind of call")
            }
        }
    }

    private var byID: [CallID: Sink] = [:]
    private var lastID: CallID = 0

    mutating func add(_ sink: Sink) -> CallID {
        lastID += 1
        byID[lastID] = sink
        return lastID
    }

    subscript(id: CallID) -> Sink? { byID[id] }

    mutating func remove(_ id: CallID) -> Sink? { byID.removeValue(forKey: id) }
}
