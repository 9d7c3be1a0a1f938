import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Synchronization
package import TidemarkModel
import TidemarkResilience

/// A call with one request, on the server.
struct ServerCall: Sendable {
    private let transport: any Transport
    private let method: RPCMethod
    private let shared: SharedLimits
    private var streams: OpenStreams { shared.streams }
    private var desk: CallDesk { shared.desk }

    init(transport: any Transport, method: RPCMethod, shared: SharedLimits) {
        self.transport = transport
        self.method = method
        self.shared = shared
    }

    func run(_ stream: ServerRPCStream) async {
        let incoming: Incoming
        do throws(RPCStatus) { incoming = try await receive(stream.inbound) } catch {
            await stream.end(error)
            return
        }
        let names = Names(incoming.request.database)
        let context = incoming.metadata.context(incoming.request.database)
        let call = ServerCallHandle()
        let sending = ReplySending<Reply>(
            shared, call, size: \.wireSize, encode: ReplyCoder(names).encode)
        defer { sending.close() }
        let outbox = sending.outbox
        call.set(transport.call(incoming.request.request, context, receive: sink(outbox, call)))
        // The status is set first, because a cancelled call would report its own status.
        let end: @Sendable (RPCStatus) -> Void = { status in
            outbox.fail(with: [.ended(status)])
            call.cancel()
        }
        let id = shared.lateCalls.add { end(.stopping) }
        defer { shared.lateCalls.remove(id) }
        let endTimer = limitTime(context.timeout) { end(.timedOut) }
        await withRPCCancellationHandler {
            await sending.run(stream)
        } onCancelRPC: { [streams] in
            // A stopping server cancels every call, but calls with a deadline may finish.
            if streams.isEnding { return }
            end(.clientGone)
        }
        endTimer()
        // A client that has disconnected does not need the rest.
        call.cancel()
        withExtendedLifetime(incoming) {}
    }

    private struct Incoming {
        let metadata: IncomingMetadata
        let request: DecodedRequest
        /// Kept as long as the decoded request, because the bytes count against the bound.
        let bytes: Unpacking.Request
    }

    private func receive(
        _ inbound: ServerTransportInbound
    ) async throws(RPCStatus) -> Incoming {
        let (metadata, caller, bytes) = try await message(inbound)
        let request = try DecodedRequest(method, bytes.bytes, budget: shared.unpacking.budget)
        try caller.checkReach(of: request.database)
        return Incoming(metadata: metadata, request: request, bytes: bytes)
    }

    /// Returns the request's bytes and its caller. The library's copy of the bytes ends with this
    /// method, before the request is decoded.
    private func message(
        _ inbound: ServerTransportInbound
    ) async throws(RPCStatus) -> (IncomingMetadata, Caller, Unpacking.Request) {
        var parts = inbound.makeAsyncIterator()
        var metadata = IncomingMetadata([:])
        var caller = Caller()
        while let part = try? await parts.next() {
            switch part {
            case .metadata(let received):
                metadata = IncomingMetadata(received)
                caller = try await desk.caller(metadata.token, method)
            case .message(let bytes):
                let received = try shared.unpacking.request(bytes, isPacked: metadata.isPacked)
                return (metadata, caller, received)
            }
        }
        throw .noRequest
    }

    /// Returns the callback for replies. If there is a single reply, it waits for the status, so
    /// both are sent in one packet.
    private func sink(
        _ outbox: Outbox<StreamEvent<Reply>>, _ call: ServerCallHandle
    ) -> @Sendable (StreamEvent<Reply>) -> Void {
        let isStreaming = method.descriptor.type == .serverStreaming
        let only = Mutex<Reply?>(nil)
        return { event in
            switch event {
            case .message(let reply):
                if isStreaming {
                    outbox.offer(event, bytes: reply.wireSize, for: call)
                } else {
                    only.withLock { $0 = reply }
                }
            case .ended(let status):
                let reply = only.withLock { $0.take() }
                if let reply, status.code == .ok {
                    outbox.finish(with: [.message(reply), event], bytes: reply.wireSize)
                } else {
                    outbox.finish(with: [event])
                }
            }
        }
    }

    /// - Parameter timeout: The client's timeout; nil applies the server's own limit.
    /// - Returns: A function that ends the limit.
    private func limitTime(
        _ timeout: Duration?, _ end: @escaping @Sendable () -> Void
    ) -> () -> Void {
        guard let timeout else {
            let id = desk.watch(method.defaultTimeout, end: end)
            return { desk.unwatch(id) }
        }
        let limit = shared.timeLimits.begin(timeout, end)
        return { shared.timeLimits.end(limit) }
    }
}

/// The handle of a call or stream, for a callback that may need it before the call exists.
package final class ServerCallHandle: Sendable {
    private struct State {
        var call: (any CancellableCall)?
        var isCancelled = false
        var isPaused = false
    }

    private let state = Mutex(State())

    package init() {}

    package func set(_ call: any CancellableCall) {
        let (isCancelled, isPaused) = state.withLock { state in
            state.call = call
            return (state.isCancelled, state.isPaused)
        }
        if isCancelled { call.cancel() } else if isPaused { call.pause() }
    }

    /// Pauses or resumes the call.
    package func set(isPaused: Bool) {
        let call = state.withLock { state in
            state.isPaused = isPaused
            return state.call
        }
        if isPaused { call?.pause() } else { call?.resume() }
    }

    package func cancel() {
        let call = state.withLock { state in
            state.isCancelled = true
            return state.call
        }
        call?.cancel()
    }
}
