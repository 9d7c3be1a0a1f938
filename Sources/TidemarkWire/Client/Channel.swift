import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

/// One connection's worth of gRPC: connects when its first stream is opened.
///
/// A channel that could not connect is thrown away and the next call makes a new one, so that the
/// caller's back-off is the only one.
final class Channel: Sendable {
    typealias Transport = HTTP2ClientTransport.Posix

    /// A connection that does not answer a ping for so long is dead.
    static let pingTimeout = Duration.seconds(20)
    /// How many bytes the server may send ahead of what has been read. The answer to a ping stands behind
    /// them: with the transport's 8 MiB, a long answer on 3G was taken for a dead connection, asked for
    /// again, and billed again (Decisions/0069). It leaves 5 MB a second to a server 100 ms away.
    static let window = 1 << 19

    let transport: Transport
    private let connecting: Task<Void, Never>

    init(_ endpoint: GRPCTransport.Endpoint) throws(RPCStatus) {
        let transport: Transport
        do {
            transport = try Self.transport(endpoint)
        } catch {
            throw RPCStatus(.unavailable, "\(endpoint.host) is no address to connect to: \(error)")
        }
        self.transport = transport
        connecting = Task { try? await transport.connect() }
    }

    private static func transport(_ endpoint: GRPCTransport.Endpoint) throws -> Transport {
        var config = Transport.Config.defaults
        config.connection = .init(
            maxIdleTime: .seconds(30 * 60),
            keepalive: .init(
                time: .seconds(30), timeout: pingTimeout, allowWithoutCalls: false))
        config.http2.maxFrameSize = 1 << 17
        config.http2.targetWindowSize = window
        // Until it is thrown away a channel tries by itself only this rarely.
        config.backoff = .init(
            initial: .seconds(10), max: .seconds(60), multiplier: 1.6, jitter: 0.2)
        return try Transport(
            target: target(endpoint), transportSecurity: security(endpoint), config: config)
    }

    private static func security(
        _ endpoint: GRPCTransport.Endpoint
    ) -> Transport.TransportSecurity {
        guard endpoint.usesTLS else { return .plaintext }
        if endpoint.authorities.isEmpty { return .tls }
        return .tls { tls in
            tls.trustRoots = .certificates(
                endpoint.authorities.map { .bytes($0, format: .pem) })
        }
    }

    /// Addresses are taken as they are: asking a resolver for them would cost a thread's round trip.
    private static func target(_ endpoint: GRPCTransport.Endpoint) -> any ResolvableTarget {
        let digits = endpoint.host.utf8.allSatisfy {
            $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        if digits, !endpoint.host.isEmpty {
            return .ipv4(address: endpoint.host, port: endpoint.port)
        }
        if endpoint.host.utf8.contains(UInt8(ascii: ":")) {
            return .ipv6(address: endpoint.host, port: endpoint.port)
        }
        return .dns(host: endpoint.host, port: endpoint.port)
    }

    /// Lets open streams end by themselves.
    func retire() { transport.beginGracefulShutdown() }

    /// Ends with the last stream, or at once when that does not come.
    func close() async {
        transport.beginGracefulShutdown()
        connecting.cancel()
        await connecting.value
    }
}
