import Synchronization
import TidemarkModel

/// A transport that answers immediately, on the caller's thread, as the test specifies.
final class ScriptedTransport: Transport {
    typealias Answer =
        @Sendable (Request, CallContext, @escaping @Sendable (StreamEvent<Reply>) -> Void) -> Void

    private let answer: Answer
    let listens = Streams<ListenRequest, ListenResponse>()
    let writes = Streams<WriteRequest, WriteResponse>()
    let cancelled = Facts<Request>()

    init(_ answer: @escaping Answer = { _, _, receive in receive(.ended(.ok)) }) {
        self.answer = answer
    }

    convenience init(replies: [Reply]) {
        self.init { _, _, receive in
            for reply in replies { receive(.message(reply)) }
            receive(.ended(.ok))
        }
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let call = ScriptedCall(request, receive, cancelled)
        answer(request, context) { call.pass($0) }
        return call
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { listens.open(context, receive) }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { writes.open(context, receive) }
}

/// A call that ends once, at the latest when it is cancelled.
private final class ScriptedCall: CancellableCall {
    private let request: Request
    private let receive: @Sendable (StreamEvent<Reply>) -> Void
    private let cancelled: Facts<Request>
    private let isOver = Mutex(false)

    init(
        _ request: Request, _ receive: @escaping @Sendable (StreamEvent<Reply>) -> Void,
        _ cancelled: Facts<Request>
    ) {
        self.request = request
        self.receive = receive
        self.cancelled = cancelled
    }

    func pass(_ event: StreamEvent<Reply>) {
        if case .ended = event { isOver.withLock { $0 = true } }
        receive(event)
    }

    func cancel() {
        let first = isOver.withLock { over in
            defer { over = true }
            return !over
        }
        guard first else { return }
        cancelled.add(request)
        receive(.ended(RPCStatus(.cancelled, "cancelled by the test")))
    }
}

/// The streams of one kind that clients opened.
final class Streams<Message: Sendable, Response: Sendable>: Sendable {
    let opened = Facts<ServedStream<Message, Response>>()

    func open(
        _ context: CallContext, _ receive: @escaping @Sendable (StreamEvent<Response>) -> Void
    ) -> ServedStream<Message, Response> {
        let stream = ServedStream<Message, Response>(context, receive)
        opened.add(stream)
        return stream
    }
}

/// The server's end of a stream, controlled by the test.
final class ServedStream<Message: Sendable, Response: Sendable>: RequestStream {
    let context: CallContext
    let received = Facts<Message>()
    let finished = Facts<Bool>()
    let cancelled = Facts<Bool>()
    private let receive: @Sendable (StreamEvent<Response>) -> Void

    init(
        _ context: CallContext, _ receive: @escaping @Sendable (StreamEvent<Response>) -> Void
    ) {
        self.context = context
        self.receive = receive
    }

    func send(_ message: Message) { received.add(message) }
    func finish() { finished.add(true) }
    func cancel() { cancelled.add(true) }

    func answer(_ response: Response) { receive(.message(response)) }
    func end(_ status: RPCStatus) { receive(.ended(status)) }
}
