import TidemarkModel

/// Plays mutations into the server over one write stream. The mutations are separate commits in
/// order, and at most ten are in flight, as on a device.
struct EventPlayer {
    private static let window = 10

    private let stream: any RequestStream<WriteRequest>
    private var responses: AsyncStream<StreamEvent<WriteResponse>>.Iterator
    private var token: [UInt8] = []
    private var inFlight = 0

    init(_ transport: any Transport, _ context: CallContext) async throws(RPCStatus) {
        let (events, sink) = AsyncStream.makeStream(of: StreamEvent<WriteResponse>.self)
        responses = events.makeAsyncIterator()
        stream = transport.write(context) { sink.yield($0) }
        stream.send(WriteRequest())
        inFlight = 1
        try await takeResponse()
    }

    /// Returns when there is room for another mutation. The commit itself can still be in flight.
    mutating func play(_ mutation: Mutation) async throws(RPCStatus) {
        while inFlight >= Self.window { try await takeResponse() }
        stream.send(WriteRequest(streamToken: token, mutations: [mutation]))
        inFlight += 1
    }

    /// Returns when all mutations are committed.
    mutating func drain() async throws(RPCStatus) {
        while inFlight > 0 { try await takeResponse() }
    }

    func finish() { stream.finish() }

    private mutating func takeResponse() async throws(RPCStatus) {
        switch await responses.next() {
        case .message(let response)?:
            token = response.streamToken
            inFlight -= 1
        case .ended(let status)?:
            throw status.code == .ok ? RPCStatus(.unavailable, "The write stream ended.") : status
        case nil: throw RPCStatus(.cancelled, "The write stream is closed.")
        }
    }
}
