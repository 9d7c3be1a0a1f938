import Synchronization
public import TidemarkModel

/// A transport whose server is the test. It records the client's requests.
///
/// The test reads ``calls``, ``listens`` and ``writes``, in which the newest is last, and answers
/// with `reply`, `push` and `end`. The transport does nothing else, and no call waits.
///
/// ```swift
/// let stream = transport.listens.last!
/// stream.push(.targetChange(TargetChange(.add, targetIDs: [1])))
/// scheduler.runUntilIdle()
/// ```
public final class ScriptedTransport: Transport {
    private struct State {
        var calls: [ScriptedCall] = []
        var listens: [ScriptedStream<ListenRequest, ListenResponse>] = []
        var writes: [ScriptedStream<WriteRequest, WriteResponse>] = []
        var networkChanges = 0
        var preparations = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// Every single call, in order.
    public var calls: [ScriptedCall] { state.withLock { $0.calls } }
    /// Every listen stream that was opened, in order.
    public var listens: [ScriptedStream<ListenRequest, ListenResponse>] {
        state.withLock { $0.listens }
    }
    /// Every write stream that was opened, in order.
    public var writes: [ScriptedStream<WriteRequest, WriteResponse>] {
        state.withLock { $0.writes }
    }

    /// The number of times that the client reported a change of the network.
    public var networkChanges: Int { state.withLock { $0.networkChanges } }
    public func networkChanged() { state.withLock { $0.networkChanges += 1 } }

    /// The number of times that the client announced a call that first had to wait for its token.
    public var preparations: Int { state.withLock { $0.preparations } }
    public func prepare() { state.withLock { $0.preparations += 1 } }

    public func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let call = ScriptedCall(request: request, context: context, receive: receive)
        state.withLock { $0.calls.append(call) }
        return call
    }

    public func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        let stream = ScriptedStream<ListenRequest, ListenResponse>(context, receive)
        state.withLock { $0.listens.append(stream) }
        return stream
    }

    public func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let stream = ScriptedStream<WriteRequest, WriteResponse>(context, receive)
        state.withLock { $0.writes.append(stream) }
        return stream
    }
}

/// A call that waits for the test's answer.
public final class ScriptedCall: CancellableCall {
    public let request: Request
    public let context: CallContext
    private let receive: @Sendable (StreamEvent<Reply>) -> Void
    private let ended = Mutex(false)

    init(
        request: Request, context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) {
        self.request = request
        self.context = context
        self.receive = receive
    }

    /// True if the call was answered completely, or cancelled.
    public var isEnded: Bool { ended.withLock { $0 } }

    /// Sends replies, followed by an end with the status `ok` unless `ends` is false.
    public func reply(_ replies: Reply..., ends: Bool = true) {
        guard !isEnded else { return }
        for reply in replies { receive(.message(reply)) }
        if ends { end() }
    }

    public func end(_ status: RPCStatus = .ok) {
        let wasEnded = ended.withLock { ended in
            defer { ended = true }
            return ended
        }
        if !wasEnded { receive(.ended(status)) }
    }

    public func cancel() { end(RPCStatus(.cancelled, "cancelled")) }
}

/// A stream whose server is the test.
public final class ScriptedStream<Sent: Sendable, Received: Sendable>: RequestStream {
    public typealias Message = Sent

    private struct State {
        var sent: [Sent] = []
        var isFinished = false
        var isEnded = false
    }

    public let context: CallContext
    private let receive: @Sendable (StreamEvent<Received>) -> Void
    private let state = Mutex(State())

    init(_ context: CallContext, _ receive: @escaping @Sendable (StreamEvent<Received>) -> Void) {
        self.context = context
        self.receive = receive
    }

    /// The messages of the client, in order.
    public var sent: [Sent] { state.withLock { $0.sent } }
    /// True if the client has finished its messages.
    public var isFinished: Bool { state.withLock { $0.isFinished } }
    /// True if the client or the test has ended the stream.
    public var isEnded: Bool { state.withLock { $0.isEnded } }

    public func send(_ message: Sent) {
        state.withLock { state in
            if !state.isEnded { state.sent.append(message) }
        }
    }

    public func finish() { state.withLock { $0.isFinished = true } }

    /// Sends messages to the client. After the end, messages are lost, like on a network.
    public func push(_ messages: Received...) {
        for message in messages where !isEnded { receive(.message(message)) }
    }

    /// Ends the stream from the server's side.
    public func end(_ status: RPCStatus) {
        let wasEnded = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded
        }
        if !wasEnded { receive(.ended(status)) }
    }

    public func cancel() { end(RPCStatus(.cancelled, "cancelled")) }
}
