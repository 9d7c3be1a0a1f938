import Synchronization
import Tidemark

/// A device's connection to the server, on one thread. A test can cut the connection, and can make
/// one query fail after some of its rows.
final class FeedSpecLink: Transport {
    struct Fault: Sendable {
        var rows: Int
        var status: RPCStatus
    }

    private struct State {
        var isUp = true
        var fault: Fault?
        var lost: [@Sendable () -> Void] = []
    }

    private let server: any Transport
    private let state = Mutex(State())
    private static let down = RPCStatus(.unavailable, "The network is down.")

    init(_ server: any Transport) { self.server = server }

    /// Ends the next query with `fault`. With zero rows, the query does not reach the server.
    func failNext(_ fault: Fault) { state.withLock { $0.fault = fault } }

    func set(isUp: Bool) {
        let lost = state.withLock { state in
            state.isUp = isUp
            defer { state.lost = [] }
            return isUp ? [] : state.lost
        }
        for lose in lost { lose() }
    }

    private var isUp: Bool { state.withLock(\.isUp) }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        guard isUp else {
            receive(.ended(Self.down))
            return NoCall()
        }
        guard case .runQuery = request,
            let fault = state.withLock({ state in
                defer { state.fault = nil }
                return state.fault
            })
        else { return server.call(request, context, receive: receive) }
        guard fault.rows > 0 else {
            receive(.ended(fault.status))
            return NoCall()
        }
        let gate = Gate(receive)
        let rows = Countdown(fault.rows)
        return server.call(request, context) { event in
            if case .message(.runQuery(let reply)) = event, reply.document != nil, rows.next() {
                gate.pass(event)
            } else {
                gate.end(fault.status)
            }
        }
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        open(receive) { server.listen(context, receive: $0) }
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        open(receive) { server.write(context, receive: $0) }
    }

    private func open<Sent: Sendable, Received: Sendable>(
        _ receive: @escaping @Sendable (StreamEvent<Received>) -> Void,
        _ connect: (@escaping @Sendable (StreamEvent<Received>) -> Void)
            -> any RequestStream<Sent>
    ) -> any RequestStream<Sent> {
        guard isUp else {
            receive(.ended(Self.down))
            return NoStream<Sent>()
        }
        let gate = Gate(receive)
        let stream = connect { gate.pass($0) }
        state.withLock {
            $0.lost.append {
                gate.end(Self.down)
                stream.cancel()
            }
        }
        return stream
    }

    /// Passes events on until the connection is lost.
    private final class Gate<Received: Sendable>: Sendable {
        private let receive: @Sendable (StreamEvent<Received>) -> Void
        private let isOpen = Mutex(true)

        init(_ receive: @escaping @Sendable (StreamEvent<Received>) -> Void) {
            self.receive = receive
        }

        func pass(_ event: StreamEvent<Received>) {
            if isOpen.withLock({ $0 }) { receive(event) }
        }

        func end(_ status: RPCStatus) {
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if wasOpen { receive(.ended(status)) }
        }
    }
}

private final class NoCall: CancellableCall {
    func cancel() {}
}

private final class NoStream<Sent: Sendable>: RequestStream {
    func send(_ message: Sent) {}
    func finish() {}
    func cancel() {}
}

private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Takes one from the count. Returns false if the count was used up.
    func next() -> Bool {
        left.withLock { left in
            defer { left -= 1 }
            return left > 0
        }
    }
}
