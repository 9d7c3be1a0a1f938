import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Synchronization
import TidemarkModel

/// A gRPC connection, which connects when its first stream is opened.
///
/// A channel that cannot connect is discarded, and the next call makes a new channel. So the
/// caller's backoff is the only one.
final class Channel: Sendable {
    typealias Transport = HTTP2ClientTransport.Posix

    /// The time without an answer to a ping after which the connection counts as dead.
    static let pingTimeout = Duration.seconds(20)
    /// The number of bytes that the server may send before the client has read them. The answer to
    /// a ping queues behind these bytes: with the transport's default of 8 MiB, a long answer on 3G
    /// looked like a dead connection, was requested again and billed again (Decisions/0069). This
    /// window allows 5 MB/s from a server 100 ms away.
    static let window = 1 << 19

    private struct Use {
        /// The number of streams that have chosen the channel and have not ended.
        var streams = 0
        var isRetired = false
    }

    let transport: Transport
    private let use = Mutex(Use())
    private let connecting: Task<Void, Never>

    init(_ endpoint: GRPCTransport.Endpoint) throws(RPCStatus) {
        let transport: Transport
        do {
            transport = try Self.transport(endpoint)
        } catch {
            throw RPCStatus(
                .unavailable,
                """
                \(endpoint.host) is not an address to connect to: \(error)
                """)
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
        // A channel rarely reconnects by itself, because a broken channel is discarded.
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

    /// Uses numeric addresses directly. Resolving them would cost a round trip to another thread.
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

    /// Adds a stream, before the stream is opened. A shutdown that began between the choice of the
    /// channel and the stream's first bytes would end the stream.
    func enter() { use.withLock { $0.streams += 1 } }

    /// Removes a stream that has ended.
    func leave() {
        let isLast = use.withLock { use in
            use.streams -= 1
            assert(use.streams >= 0, "a stream left a channel twice")
            return use.isRetired && use.streams == 0
        }
        if isLast { transport.beginGracefulShutdown() }
    }

    /// Closes the connection after its streams have ended.
    func retire() {
        let isUnused = use.withLock { use in
            use.isRetired = true
            return use.streams == 0
        }
        if isUnused { transport.beginGracefulShutdown() }
    }

    /// Closes the connection: gracefully if no stream is left, otherwise immediately.
    func close() async {
        transport.beginGracefulShutdown()
        connecting.cancel()
        await connecting.value
    }
}
