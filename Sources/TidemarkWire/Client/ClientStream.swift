import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

/// A bidirectional stream. Its own task encodes, sends, receives and decodes the messages.
final class ClientStream<Message: Sendable, Response: Sendable>: RequestStream {
    private let method: RPCMethod
    private let context: CallContext
    private let encode: @Sendable (Message) -> [UInt8]
    private let decode: @Sendable ([UInt8]) throws(RPCStatus) -> Response
    private let receive: @Sendable (StreamEvent<Response>) -> Void
    private let outbox = Outbox<Message>(limit: GRPCTransport.maxQueuedMessages)
    private let run = ClientRun()

    init(
        method: RPCMethod, context: CallContext,
        encode: @escaping @Sendable (Message) -> [UInt8],
        decode: @escaping @Sendable ([UInt8]) throws(RPCStatus) -> Response,
        receive: @escaping @Sendable (StreamEvent<Response>) -> Void
    ) {
        self.method = method
        self.context = context
        self.encode = encode
        self.decode = decode
        self.receive = receive
    }

    func send(_ message: Message) {
        guard outbox.offer(message, bytes: 1) == .full else { return }
        run.end(RPCStatus(.resourceExhausted, "Too many messages are waiting to be sent."))
        outbox.fail()
    }

    func finish() { outbox.finish() }

    func cancel() {
        run.end(.cancelledByCaller)
        outbox.fail()
    }

    func start(on transport: GRPCTransport) {
        run.start(
            method, context, on: transport, for: self,
            body: { try await self.exchange($0, transport) },
            ended: { status in
                self.outbox.fail()
                self.receive(.ended(status))
            })
    }

    private func exchange(
        _ stream: ClientRPCStream, _ transport: GRPCTransport
    ) async throws -> RPCStatus {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendAll(stream, transport) }
            // The sender waits for messages and ignores cancellation.
            defer { outbox.fail() }
            return try await transport.receiveAll(stream) { message throws(RPCStatus) in
                receive(.message(try decode(message)))
            }
        }
    }

    /// Sends all messages. An error means that the stream is over; the receiving half gets the
    /// reason.
    private func sendAll(_ stream: ClientRPCStream, _ transport: GRPCTransport) async {
        guard (try? await stream.outbound.write(.metadata(Metadata(context)))) != nil else {
            return
        }
        while let messages = await outbox.next() {
            let parts = messages.map { message in
                let bytes = encode(message)
                transport.didSend(message: bytes.count)
                return RPCRequestPart.message(GRPCNIOTransportBytes(bytes))
            }
            guard (try? await stream.outbound.write(contentsOf: parts)) != nil else { return }
        }
        await stream.outbound.finish()
    }
}
