import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

/// A listen or write stream on the server. The stream opens on the transport when its first message
/// has named the database.
struct ServerStream<Message: Sendable, Response: Sendable>: Sendable {
    private typealias Sink = StreamCoding<Message, Response>.Sink

    private let transport: any Transport
    private let coding: StreamCoding<Message, Response>

    init(_ transport: any Transport, _ coding: StreamCoding<Message, Response>) {
        self.transport = transport
        self.coding = coding
    }

    /// Says who calls, by the token they show, or refuses them.
    typealias Check =
        @Sendable (
            _ token: String?, _ lease: StreamLease
        ) async throws(RPCStatus) -> Caller

    /// - Parameter check: Returns the caller for a token, or throws to reject it.
    func run(
        _ stream: ServerRPCStream, shared: SharedLimits, check: @escaping Check
    ) async {
        let streams = shared.streams
        let handle = ServerCallHandle()
        let messages = StreamMessages(coding, budget: shared.unpacking.budget)
        let sending = ReplySending<Response>(
            shared, handle, size: coding.size, encode: { messages.bytes(of: $0) })
        defer { sending.close() }
        let outbox = sending.outbox
        let end: @Sendable (RPCStatus) -> Void = { status in
            outbox.fail(with: [.ended(status)])
            handle.cancel()
        }
        let id = streams.add { end(.stopping) }
        defer { streams.remove(id) }
        let lease = StreamLease()
        lease.onEnd(end)
        defer { lease.release() }
        await withRPCCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do throws(RPCStatus) {
                        try await receiveAll(
                            stream.inbound, unpacking: shared.unpacking, outbox: outbox,
                            handle: handle, messages: messages
                        ) { token async throws(RPCStatus) in try await check(token, lease) }
                    } catch { end(error) }
                }
                await sending.run(stream)
                group.cancelAll()
            }
        } onCancelRPC: {
            end(streams.isEnding ? .stopping : .clientGone)
        }
        handle.cancel()
    }

    private func receiveAll(
        _ inbound: ServerTransportInbound, unpacking: Unpacking,
        outbox: Outbox<StreamEvent<Response>>, handle: ServerCallHandle,
        messages: StreamMessages<Message, Response>,
        check: @Sendable (_ token: String?) async throws(RPCStatus) -> Caller
    ) async throws(RPCStatus) {
        var parts = inbound.makeAsyncIterator()
        var metadata = IncomingMetadata([:])
        var caller = Caller()
        var request: (any RequestStream<Message>)?
        while let part = try? await parts.next() {
            guard case .message(let bytes) = part else {
                if case .metadata(let received) = part {
                    metadata = IncomingMetadata(received)
                    caller = try await check(metadata.token)
                }
                continue
            }
            let received = try unpacking.request(bytes, isPacked: metadata.isPacked)
            let (database, message) = try messages.message(received.bytes)
            if request == nil {
                try caller.checkReach(of: database)
                let opened = messages.open(
                    transport, metadata.context(database), receive: sink(outbox, handle))
                handle.set(opened)
                request = opened
            }
            request?.send(message)
        }
        // The client has sent no request, so there is nothing to answer.
        guard let request else { return outbox.finish(with: [.ended(.ok)]) }
        request.finish()
    }

    private func sink(
        _ outbox: Outbox<StreamEvent<Response>>, _ handle: ServerCallHandle
    ) -> Sink {
        { [coding] event in
            switch event {
            case .ended: outbox.finish(with: [event])
            case .message(let response):
                outbox.offer(event, bytes: coding.size(response), for: handle)
            }
        }
    }
}
