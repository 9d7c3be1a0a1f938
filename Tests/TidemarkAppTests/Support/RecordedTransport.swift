import Synchronization
import Tidemark
import TidemarkTesting
import TidemarkWire

/// A transport that records the context of each call and each stream.
final class RecordedTransport: Transport {
    private struct State {
        var calls: [CallContext] = []
        var listens: [CallContext] = []
        var writes: [CallContext] = []
    }

    private let base: any Transport
    private let state = Mutex(State())

    init(_ base: any Transport) { self.base = base }

    var calls: [CallContext] { state.withLock { $0.calls } }
    var listens: [CallContext] { state.withLock { $0.listens } }
    var writes: [CallContext] { state.withLock { $0.writes } }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        state.withLock { $0.calls.append(context) }
        return base.call(request, context, receive: receive)
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        state.withLock { $0.listens.append(context) }
        return base.listen(context, receive: receive)
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        state.withLock { $0.writes.append(context) }
        return base.write(context, receive: receive)
    }
}

/// Serves a transport on a local port.
final class ServedTransport {
    let port: Int
    private let serving: Task<Void, Never>

    init(_ transport: any Transport) async throws {
        let (ports, input) = AsyncStream.makeStream(of: Int.self)
        let thread = ServingThread("tidemark.test-server")
        let server = GRPCServer(transport, host: "127.0.0.1", port: 0, executor: thread)
        serving = Task(executorPreference: thread) {
            try? await server.run { input.yield($0) }
            input.finish()
        }
        var first: Int?
        for await port in ports {
            first = port
            break
        }
        guard let first else { throw RPCStatus(.unavailable, "There is no port.") }
        port = first
    }

    func stop() async {
        serving.cancel()
        await serving.value
    }
}
