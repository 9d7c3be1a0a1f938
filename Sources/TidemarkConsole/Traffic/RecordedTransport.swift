import Synchronization
public import TidemarkModel
import TidemarkServer

/// A transport that records each call and stream for the console: the caller, the request, and the
/// cost.
///
/// The transport precedes a server and passes all messages on unchanged. A recorded call takes a
/// lock at its begin, for each message, and at its end.
public final class RecordedTransport: Transport {
    private let upstream: any Transport
    private let log: Mutex<TrafficLog>
    /// Rings after a recorded call or message, and after a write that bypasses this transport.
    let bell = TrafficBell()
    /// Returns the time in microseconds since 1970.
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - capacity: The maximum number of ended calls. Above it, the oldest are dropped.
    ///   - now: Returns the machine's time, in microseconds since 1970.
    ///   - capacity: The maximum number of kept calls that have ended. They have at most 32 MiB,
    ///     too; the oldest are forgotten first.
    public init(
        _ upstream: any Transport, capacity: Int = 50_000, now: @escaping @Sendable () -> Int64
    ) {
        self.upstream = upstream
        log = Mutex(TrafficLog(capacity: capacity))
        self.now = now
    }

    /// A copy of the log. A search of the copy does not need the lock that every call takes.
    package var snapshot: TrafficLog { log.withLock { $0 } }

    func clear() {
        log.withLock { $0.clear() }
        bell.ring { $0.traffic += 1 }
    }

    /// Informs the readers of data about a write that bypassed this transport.
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
        let id = begin(request.method, context: context, asked: request.sentence)
        return upstream.call(request, context) { [self] event in
            note(event, id: id) { entry, reply, _ in entry.note(reply) }
            receive(event)
        }
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let id = begin(.listen, context: context, asked: "nothing yet")
        let stream = upstream.listen(context) { [self] event in
            note(event, id: id) { $0.note($1, at: $2) }
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
        let id = begin(.write, context: context, asked: "nothing yet")
        let stream = upstream.write(context) { [self] event in
            note(event, id: id) { entry, response, _ in
                entry.messages += 1
                if !response.results.isEmpty, let committed = response.commitTime {
                    entry.noteCommit(at: committed)
                }
            }
            receive(event)
            if case .message(let response) = event, !response.results.isEmpty { noteWrite() }
        }
        return RecordedStream(stream) { [self] request in
            guard !request.mutations.isEmpty else { return }
            let asked = Request.commit(CommitRequest(mutations: request.mutations)).sentence
            let time = now()
            change { $0.update(id, at: time) { $0.asked = asked.cut } }
        }
    }

    private func begin(_ method: RPCMethod, context: CallContext, asked: String) -> Int {
        let time = now()
        defer { bell.ring { $0.traffic += 1 } }
        return log.withLock { log in
            let database = log.name(of: context.database)
            return log.begin(
                method: method.rawValue, database: database, label: context.label,
                client: context.client, asked: asked,
                canBeFunction: EventAuthor(context).canBeFunction, at: time)
        }
    }

    // MARK: Deliveries

    /// - Returns: The id of the entry.
    func beginDelivery(_ event: DocumentEvent) -> Int {
        let time = now()
        defer { bell.ring { $0.traffic += 1 } }
        let change =
            switch (event.before, event.after) {
            case (nil, _): "created"
            case (_, nil): "deleted"
            default: "updated"
            }
        return log.withLock { log in
            log.beginDelivery(
                of: TrafficEvent(
                    id: event.id, document: event.path.text, time: event.time.microseconds),
                to: event.trigger.key, change: change,
                database: log.name(of: event.trigger.database), at: time)
        }
    }

    func endDelivery(_ id: Int, _ answer: DeliveryAnswer) {
        let time = now()
        change { $0.endDelivery(id, at: time) { $0.end(answer, at: time) } }
    }

    /// Records a message before the caller receives it.
    private func note<Message>(
        _ event: StreamEvent<Message>, id: Int,
        note: (inout TrafficEntry, Message, Int64) -> Void
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

/// A stream whose requests are recorded before they are passed on.
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
