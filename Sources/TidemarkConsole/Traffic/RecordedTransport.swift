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

    /// All that is recorded, as of now. It is searched without the lock that every call takes.
    package var snapshot: TrafficLog { log.withLock { $0 } }

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
        return upstream.call(request, context) { [self] event in
            note(event, id) { entry, reply, _ in entry.note(reply) }
            receive(event)
        }
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let id = begin(.listen, context, "nothing yet")
        let stream = upstream.listen(context) { [self] event in
            note(event, id) { $0.note($1, at: $2) }
            receive(event)
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
        let stream = upstream.write(context) { [self] event in
            note(event, id) { entry, _, _ in entry.messages += 1 }
            receive(event)
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
        return log.withLock { log in
            let database = log.name(of: context.database)
            return log.begin(
                method: method.rawValue, database: database, label: context.label,
                client: context.client, asked: asked, at: time)
        }
    }

    /// Notes what is about to reach the caller.
    private func note<Message>(
        _ event: StreamEvent<Message>, _ id: Int,
        _ note: (inout TrafficEntry, Message, Int64) -> Void
    ) {
        let time = now()
        switch event {
        case .message(let message):
            change { $0.update(id, at: time) { note(&$0, message, time) } }
        case .ended(let status):
            change { $0.end(id, at: time) { $0.end(status, at: time) } }
            if let billed = status.billed, billed.writes + billed.deletes > 0 { noteWrite() }
        }
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
