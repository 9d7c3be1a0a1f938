import Synchronization
public import TidemarkModel

/// A transport that records each call and stream for the console: who asked, what, and what it cost.
///
/// It goes in front of a server, and passes on what comes and goes unchanged. A recorded call costs one
/// lock at its beginning, one for each message, and one at its end.
public final class RecordedTransport: Transport {
    private let upstream: any Transport
    private let log: Mutex<TrafficLog>
    /// Rings when something was recorded, or written past it.
    let bell = TrafficBell()
    /// Microseconds since 1970.
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - capacity: How many calls that have ended are kept; the oldest are forgotten first.
    ///   - now: The time of the machine, in microseconds since 1970.
    public init(
        _ upstream: any Transport, capacity: Int = 50_000, now: @escaping @Sendable () -> Int64
    ) {
        self.upstream = upstream
        log = Mutex(TrafficLog(capacity: capacity))
        self.now = now
    }

    func read<Result: Sendable>(_ body: (borrowing TrafficLog) -> Result) -> Result {
        log.withLock { body($0) }
    }

    func clear() {
        log.withLock { $0.clear() }
        bell.ring { $0.traffic += 1 }
    }

    /// Tells those who look at data of a write that did not come through here.
    func noteWrite() { bell.ring { $0.data += 1 } }

    private func change(_ body: (inout TrafficLog) -> Void) {
        log.withLock { body(&$0) }
        bell.ring { $0.traffic += 1 }
    }

    // MARK: Transport

    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let id = begin(request.method, context, request.sentence)
        return upstream.call(request, context.withUsage) { [self] event in
            receive(recorded(event, id, context) { entry, reply, _ in entry.note(reply) })
        }
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let id = begin(.listen, context, "nothing yet")
        let stream = upstream.listen(context.withUsage) { [self] event in
            receive(recorded(event, id, context) { $0.note($1, at: $2) })
        }
        return RecordedStream(stream) { [self] request in
            let time = now()
            switch request {
            case .add(let target, _):
                change { $0.update(id, at: time) { $0.add(target, at: time) } }
            case .remove(let target):
                change { $0.update(id, at: time) { $0.remove(target, at: time) } }
            case .unreadable: break
            }
        }
    }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let id = begin(.write, context, "nothing yet")
        let stream = upstream.write(context.withUsage) { [self] event in
            receive(recorded(event, id, context) { entry, _, _ in entry.messages += 1 })
            if case .message(let response) = event, !response.results.isEmpty { noteWrite() }
        }
        return RecordedStream(stream) { [self] request in
            guard !request.mutations.isEmpty else { return }
            let asked = Request.commit(CommitRequest(mutations: request.mutations)).sentence
            let time = now()
            change { $0.update(id, at: time) { $0.asked = asked } }
        }
    }

    private func begin(_ method: RPCMethod, _ context: CallContext, _ asked: String) -> Int {
        let time = now()
        defer { bell.ring { $0.traffic += 1 } }
        return log.withLock {
            $0.begin(
                method: method.rawValue, database: context.database.name, label: context.label,
                client: context.client, asked: asked, at: time)
        }
    }

    /// Notes an event, and takes off what the caller did not ask for.
    private func recorded<Message>(
        _ event: StreamEvent<Message>, _ id: Int, _ context: CallContext,
        _ note: (inout TrafficEntry, Message, Int64) -> Void
    ) -> StreamEvent<Message> {
        let time = now()
        switch event {
        case .message(let message):
            change { $0.update(id, at: time) { note(&$0, message, time) } }
            return event
        case .ended(var status):
            change { $0.end(id, at: time) { $0.end(status, at: time) } }
            let counts = ["x-tidemark-writes", "x-tidemark-deletes"].map { status.trailers[$0] }
            if counts.contains(where: { $0 != nil && $0 != "0" }) { noteWrite() }
            if !context.reportsUsage {
                status.trailers = status.trailers.filter { !Self.usageTrailers.contains($0.key) }
            }
            return .ended(status)
        }
    }

    private static let usageTrailers: Set = [
        "x-tidemark-reads", "x-tidemark-writes", "x-tidemark-deletes",
    ]
}

extension CallContext {
    /// The same call, whose end says what it was billed.
    fileprivate var withUsage: CallContext {
        var context = self
        context.reportsUsage = true
        return context
    }
}

/// A stream whose requests are noted before they go on.
private final class RecordedStream<Message: Sendable>: RequestStream {
    private let upstream: any RequestStream<Message>
    private let note: @Sendable (Message) -> Void

    init(_ upstream: any RequestStream<Message>, note: @escaping @Sendable (Message) -> Void) {
        self.upstream = upstream
        self.note = note
    }

    func send(_ message: Message) {
        note(message)
        upstream.send(message)
    }
    func finish() { upstream.finish() }
    func cancel() { upstream.cancel() }
    func pause() { upstream.pause() }
    func resume() { upstream.resume() }
}
