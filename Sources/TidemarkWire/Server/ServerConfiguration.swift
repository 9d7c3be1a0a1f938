import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

extension GRPCServer {
    /// Production refuses larger requests. Source: server-protocol 1.0.
    static let maxRequestBytes = 11_534_336
    /// Where a request is cut off without being read to its end.
    static let maxMessageBytes = 16 << 20
    /// How much of what came in gzip may be unpacked at once, on all calls.
    static let maxUnpackedBytes = 64 << 20
    /// How much may wait to be sent on one stream; more ends it with `RESOURCE_EXHAUSTED`.
    static let maxQueuedBytes = 256 << 20
    /// From where on a stream's transport is asked to make no more.
    static let window = 1 << 20
    /// How much may wait to be sent on all streams; beyond, those that do not read are ended with
    /// `RESOURCE_EXHAUSTED`.
    static let maxUnsentBytes = 64 << 20
    /// Messages that leave together take about so many bytes.
    static let writeBytes = 1 << 16
    /// How long calls may go on after the server was told to stop.
    static let grace = Duration.seconds(2)
    /// How long connections may take to send the last answers after that.
    static let leaving = Duration.milliseconds(500)

    static func transport(
        host: String, port: Int, _ connections: OpenConnections, _ plain: PlainConnections?
    ) throws(RPCStatus) -> HTTP2ServerTransport.Custom<SharedPort> {
        guard (0...65_535).contains(port) else {
            throw .invalidArgument("\(port) is no port: 0 to 65535.")
        }
        var config = HTTP2ServerTransport.Custom<SharedPort>.Config.defaults
        config.rpc.maxRequestPayloadSize = maxMessageBytes
        // A few more than are served, so that the others can be told why not.
        config.http2 = .init(
            maxFrameSize: 1 << 17, targetWindowSize: 8 << 20,
            maxConcurrentStreams: CallLimits().perConnection + 100)
        // Google's clients ping to measure the network, each time that an answer has come: when several have
        // come in one packet, more often than this server writes. Sent away for that, they ask again for
        // what was done. NIOHTTP2's own limit is met by `PingMachine`.
        config.connection = .init(
            maxAge: nil, maxGraceTime: nil, maxIdleTime: nil,
            keepalive: .init(
                time: .seconds(120), timeout: .seconds(20),
                clientBehavior: .init(
                    minPingIntervalWithoutCalls: .zero, allowWithoutCalls: true)))
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { connections.add($0) }
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { PackedRequests.add(to: $0) }
        let listener = SharedPort(
            host: host == "localhost" ? "127.0.0.1" : host, port: port, plain: plain)
        let transport = HTTP2ServerTransport.Custom(listenerFactory: listener, config: config)
        var context = GRPCServerContext()
        context.methods = RPCMethod.allCases.map(\.descriptor)
        transport.configure(context: context)
        return transport
    }
}
