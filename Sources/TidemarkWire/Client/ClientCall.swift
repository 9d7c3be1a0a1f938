import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

/// A call with one request.
final class ClientCall: CancellableCall {
    private let context: CallContext
    private let receive: @Sendable (StreamEvent<Reply>) -> Void
    private let run = ClientRun()
    private let gate = ReadingGate()

    init(_ context: CallContext, _ receive: @escaping @Sendable (StreamEvent<Reply>) -> Void) {
        self.context = context
        self.receive = receive
    }

    func cancel() { run.end(.cancelledByCaller) }
    func pause() { gate.close() }
    func resume() { gate.open() }

    func start(_ request: Request, on transport: GRPCTransport) {
        let names = Names(context.database)
        run.start(
            request.method, context, on: transport, for: self,
            body: { stream in
                let bytes = try EncodedRequest(request, names).bytes
                return try await self.exchange(
                    bytes, method: request.method, stream: stream, transport: transport,
                    names: names)
            },
            ended: { [receive] in receive(.ended($0)) })
    }

    private func exchange(
        _ bytes: [UInt8], method: RPCMethod, stream: ClientRPCStream,
        transport: GRPCTransport, names: Names
    ) async throws -> RPCStatus {
        guard bytes.count <= GRPCTransport.maxMessageBytes else {
            throw RPCStatus.invalidArgument("The request is larger than 17 MiB.")
        }
        // A server may answer before it has read the whole request. Its answer is in the inbound
        // half.
        try? await stream.outbound.write(
            contentsOf: [.metadata(Metadata(context)), .message(GRPCNIOTransportBytes(bytes))])
        transport.didSend(message: bytes.count)
        await stream.outbound.finish()
        return try await transport.receiveAll(stream, gate: gate) { message throws(RPCStatus) in
            receive(.message(try ReplyCoder(names).reply(to: method, message)))
        }
    }
}
