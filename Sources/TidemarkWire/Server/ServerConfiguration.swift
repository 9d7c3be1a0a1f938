import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

extension GRPCServer {
    /// The maximum size of a request in bytes. Production rejects larger requests. Source:
    /// server-protocol 1.0.
    static let maxRequestBytes = 11_534_336
    /// The size in bytes at which a request is aborted before it has been read completely.
    static let maxMessageBytes = 16 << 20
    /// The maximum number of decompressed bytes of gzip requests, on all calls.
    static let maxUnpackedBytes = 64 << 20
    /// The maximum number of unsent bytes on one stream. More ends the stream with
    /// `RESOURCE_EXHAUSTED`.
    static let maxQueuedBytes = 256 << 20
    /// The number of unsent bytes on a stream from which its transport is paused.
    static let window = 1 << 20
    /// The maximum number of unsent bytes on all streams. Beyond it, streams whose clients do not
    /// read end with `RESOURCE_EXHAUSTED`.
    static let maxUnsentBytes = 64 << 20
    /// The approximate number of bytes in one write.
    static let writeBytes = 1 << 16
    /// The time that calls have to finish after the server has begun to stop.
    static let grace = Duration.seconds(2)
    /// The additional time that connections have to send their last answers.
    static let leaving = Duration.milliseconds(500)

    static func transport(
        host: String, port: Int, connections: OpenConnections, limit: ConnectionLimit,
        plain: PlainConnections?, maxMessageBytes: Int
    ) throws(RPCStatus) -> HTTP2ServerTransport.Custom<SharedPort> {
        guard (0...65_535).contains(port) else {
            throw .invalidArgument("\(port) is not a port: use 0 to 65535.")
        }
        var config = HTTP2ServerTransport.Custom<SharedPort>.Config.defaults
        config.rpc.maxRequestPayloadSize = maxMessageBytes
        // Accepts slightly more streams than are served, so that the others get an error.
        config.http2 = .init(
            maxFrameSize: 1 << 17, targetWindowSize: 8 << 20,
            maxConcurrentStreams: CallLimits().perConnection + 100)
        // Google's clients ping after each answer to measure the network. If several answers arrive
        // in one packet, they ping more often than this server writes. A client that is
        // disconnected for this repeats its requests. `PingMachine` avoids NIOHTTP2's own limit.
        config.connection = .init(
            maxAge: nil, maxGraceTime: nil, maxIdleTime: nil,
            keepalive: .init(
                time: .seconds(120), timeout: .seconds(20),
                clientBehavior: .init(
                    minPingIntervalWithoutCalls: .zero, allowWithoutCalls: true)))
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { connections.add($0) }
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { PackedRequests.add(to: $0) }
        let listener = SharedPort(
            host: host == "localhost" ? "127.0.0.1" : host, port: port, plain: plain, limit: limit)
        let transport = HTTP2ServerTransport.Custom(listenerFactory: listener, config: config)
        var context = GRPCServerContext()
        context.methods = RPCMethod.allCases.map(\.descriptor)
        transport.configure(context: context)
        return transport
    }
}
