import TidemarkModel

/// Plays mutations into the server over one write stream, each its own commit, in order, ten in flight
/// as a device would.
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

    /// Returns once there is room for another; the commit itself may still be on its way.
    mutating func play(_ mutation: Mutation) async throws(RPCStatus) {
        while inFlight >= Self.window { try await takeResponse() }
        stream.send(WriteRequest(streamToken: token, mutations: [mutation]))
        inFlight += 1
    }

    /// Returns when everything played is committed.
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
