import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

/// A listen or write stream, on the server's side. It is opened on the transport when its first
/// message has named the database.
struct ServerStream<Message: Sendable, Response: Sendable>: Sendable {
    typealias Sink = @Sendable (StreamEvent<Response>) -> Void

    let open: @Sendable (CallContext, @escaping Sink) -> any RequestStream<Message>
    let parse: @Sendable ([UInt8]) throws(RPCStatus) -> IncomingMessage<Message>
    let encode: @Sendable (Names, Response) -> [UInt8]
    let size: @Sendable (Response) -> Int

    /// - Parameter check: Who calls, by the token they show; or refuses them.
    func run(
        _ stream: ServerRPCStream, _ shared: SharedLimits,
        _ check: @escaping @Sendable (_ token: String?) async throws(RPCStatus) -> Caller
    ) async {
        let streams = shared.streams
        let handle = ServerCallHandle()
        let database = SharedDatabase()
        let sending = ReplySending<Response>(
            shared.budget, handle, size: size, encode: { encode(database.names, $0) })
        defer { sending.close() }
        let outbox = sending.outbox
        let end: @Sendable (RPCStatus) -> Void = { status in
            outbox.fail(with: [.ended(status)])
            handle.cancel()
        }
        let id = streams.add { end(.stopping) }
        defer { streams.remove(id) }
        await withRPCCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do throws(RPCStatus) {
                        try await receiveAll(
                            stream.inbound, shared.unpacking, outbox, handle, database, check)
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
        _ inbound: ServerTransportInbound, _ unpacking: Unpacking,
        _ outbox: Outbox<StreamEvent<Response>>, _ handle: ServerCallHandle,
        _ database: SharedDatabase,
        _ check: @Sendable (_ token: String?) async throws(RPCStatus) -> Caller
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
            let incoming = try parse(received.bytes)
            let names = try database.names(naming: incoming.database)
            let message = try incoming.decode(names)
            if request == nil {
                try caller.checkReach(of: names.database)
                let opened = open(metadata.context(names.database), sink(outbox, handle))
                handle.set(opened)
                request = opened
            }
            request?.send(message)
        }
        // Nothing was asked: nothing is left to answer.
        guard let request else { return outbox.finish(with: [.ended(.ok)]) }
        request.finish()
    }

    private func sink(
        _ outbox: Outbox<StreamEvent<Response>>, _ handle: ServerCallHandle
    ) -> Sink {
        { [size] event in
            switch event {
            case .ended: outbox.finish(with: [event])
            case .message(let response):
                outbox.offer(event, bytes: size(response), for: handle)
            }
        }
    }
}
