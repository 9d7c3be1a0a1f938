import Synchronization
import TidemarkModel
import TidemarkServer

/// A network between an engine and a real server. Every message waits until the test delivers it,
/// and the test can cut a write stream at either end.
final class ServerNetwork: Transport {
    private struct State {
        var server: FirestoreServer
        var wires: [WriteWire] = []
    }

    private let state: Mutex<State>

    init(_ server: FirestoreServer) { state = Mutex(State(server: server)) }

    var server: FirestoreServer {
        get { state.withLock { $0.server } }
        set { state.withLock { $0.server = newValue } }
    }

    /// The connections of all write streams, the newest last.
    var wires: [WriteWire] { state.withLock { $0.wires } }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        server.call(request, context, receive: receive)
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        server.listen(context, receive: receive)
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        let wire = WriteWire(receive)
        wire.connect(to: server, context)
        state.withLock { $0.wires.append(wire) }
        return wire
    }
}

/// A connection on which messages wait in both directions.
final class WriteWire: RequestStream {
    private enum Outgoing: Sendable { case message(WriteRequest), finish, cancel }

    private struct State {
        var outgoing: [Outgoing] = []
        var incoming: [StreamEvent<WriteResponse>] = []
        var far: (any RequestStream<WriteRequest>)?
        /// True if the client's end no longer exists. Sent messages may still reach the server.
        var isDeaf = false
    }

    private let state = Mutex(State())
    private let receive: @Sendable (StreamEvent<WriteResponse>) -> Void

    init(_ receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void) {
        self.receive = receive
    }

    func connect(to server: FirestoreServer, _ context: CallContext) {
        let far = server.write(context) { [weak self] event in
            self?.state.withLock { $0.incoming.append(event) }
        }
        state.withLock { $0.far = far }
    }

    private func put(_ event: Outgoing) {
        state.withLock { state in
            if !state.isDeaf { state.outgoing.append(event) }
        }
    }

    func send(_ message: WriteRequest) { put(.message(message)) }
    func finish() { put(.finish) }
    func cancel() { put(.cancel) }

    /// Delivers the next messages to the server.
    func deliver(_ count: Int = .max) {
        let (events, far) = state.withLock { state in
            defer { state.outgoing.removeFirst(min(count, state.outgoing.count)) }
            return (Array(state.outgoing.prefix(count)), state.far)
        }
        for event in events {
            switch event {
            case .message(let message): far?.send(message)
            case .finish: far?.finish()
            case .cancel: far?.cancel()
            }
        }
    }

    /// Delivers the next responses to the client.
    func answer(_ count: Int = .max) {
        let events = state.withLock { state in
            if state.isDeaf { state.incoming = [] }
            defer { state.incoming.removeFirst(min(count, state.incoming.count)) }
            return Array(state.incoming.prefix(count))
        }
        for event in events { receive(event) }
    }

    /// Simulates the end of the client's process: the client receives nothing more.
    func silence() { state.withLock { $0.isDeaf = true } }

    /// Breaks the connection at the client's end.
    func cut() {
        let wasDeaf = state.withLock { state in
            defer { state.isDeaf = true }
            return state.isDeaf
        }
        if !wasDeaf { receive(.ended(RPCStatus(.unavailable, "cut"))) }
    }

    /// Breaks the connection at the server's end. Undelivered messages are lost.
    func cutAtServer() {
        let far = state.withLock { state in
            state.outgoing = []
            return state.far
        }
        far?.cancel()
    }

    /// Simulates the end of the server's process. Undelivered messages are lost.
    func loseServer() {
        state.withLock { state in
            state.outgoing = []
            state.far = nil
        }
    }
}
