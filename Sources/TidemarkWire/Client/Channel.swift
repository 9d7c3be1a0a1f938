import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel

/// One connection's worth of gRPC: connects when its first stream is opened.
///
/// A channel that could not connect is thrown away and the next call makes a new one, so that the
/// caller's back-off is the only one.
final class Channel: Sendable {
    typealias Transport = HTTP2ClientTransport.Posix

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
            keepalive: .init(time: .seconds(30), timeout: .seconds(20), allowWithoutCalls: false))
        config.http2.maxFrameSize = 1 << 17
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
