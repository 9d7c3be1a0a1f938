package import TidemarkModel

/// Encodes and decodes one of the protocol's two streams, independent of the carrier.
package struct StreamCoding<Message: Sendable, Response: Sendable>: Sendable {
    package typealias Sink = @Sendable (StreamEvent<Response>) -> Void

    package let method: RPCMethod
    let open: @Sendable (any Transport, CallContext, @escaping Sink) -> any RequestStream<Message>
    let parse: @Sendable ([UInt8]) throws(RPCStatus) -> IncomingMessage<Message>
    /// Gives a message its share of the memory of requests, if it may wait for long.
    let hold: @Sendable (inout Message, BodyBudget.Share?) -> Void
    let encode: @Sendable (Names, Response) -> [UInt8]
    /// Returns the approximate size of a response in bytes.
    package let size: @Sendable (Response) -> Int
}

extension StreamCoding<ListenRequest, ListenResponse> {
    package static let listen = StreamCoding(
        method: .listen, open: { $0.listen($1, receive: $2) },
        parse: { bytes throws(RPCStatus) in try .listen(bytes) }, hold: { _, _ in },
        encode: { ListenCoder($0).encode($1) }, size: { $0.wireSize })
}

extension StreamCoding<WriteRequest, WriteResponse> {
    package static let write = StreamCoding(
        method: .write, open: { $0.write($1, receive: $2) },
        parse: { bytes throws(RPCStatus) in try .write(bytes) },
        hold: { $0.memory = RequestMemory($1) },
        encode: { WriteCoder($0).encode($1) }, size: { $0.wireSize })
}

/// The messages of a stream. The first message names the database.
package final class StreamMessages<Message: Sendable, Response: Sendable>: Sendable {
    private let coding: StreamCoding<Message, Response>
    private let budget: BodyBudget
    private let shared = SharedDatabase()

    /// - Parameter budget: Limits the memory of the messages until they are performed.
    package init(_ coding: StreamCoding<Message, Response>, budget: BodyBudget = .process) {
        self.coding = coding
        self.budget = budget
    }

    /// - Throws: `INVALID_ARGUMENT` with the reason, or `UNAVAILABLE` if the budget has no room.
    ///   The error ends the stream.
    package func message(_ bytes: [UInt8]) throws(RPCStatus) -> (database: DatabaseID, Message) {
        let share = try budget.share(for: coding.method, bytes)
        let incoming = try coding.parse(bytes)
        let names = try shared.names(naming: incoming.database)
        var message = try incoming.decode(names)
        coding.hold(&message, share)
        return (names.database, message)
    }

    /// - Precondition: A message has named the database.
    package func bytes(of response: Response) -> [UInt8] { coding.encode(shared.names, response) }

    package func open(
        _ transport: any Transport, _ context: CallContext,
        receive: @escaping StreamCoding<Message, Response>.Sink
    ) -> any RequestStream<Message> {
        coding.open(transport, context, receive)
    }
}
