import GRPCNIOTransportHTTP2Posix
package import NIOCore
import NIOPosix

/// Handles connections to a gRPC server's port that do not speak HTTP/2.
///
/// - Parameters:
///   - channel: An active channel whose pipeline holds only the handler that has read the first
///     bytes. Those bytes are passed on when the future completes. Called on the channel's event
///     loop.
///   - isEncrypted: True if the first bytes begin a handshake of TLS.
package typealias PlainConnections =
    @Sendable (_ channel: any NIOCore.Channel, _ isEncrypted: Bool) -> EventLoopFuture<Void>

/// Accepts connections, passes those that begin with HTTP/2's preface to gRPC, and others to
/// `plain`.
///
/// The library expects its connections as the reads of a listening channel. An accepted channel
/// becomes active only at the tail of that channel's pipeline, but may reach the library only after
/// its first bytes have arrived. Therefore accepted channels bypass the library's handler as an
/// event, and the HTTP/2 connections among them are passed to the library later.
struct SharedPort: HTTP2ServerTransport.ListenerFactory {
    typealias Connection = HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel

    let host: String
    let port: Int
    /// The handler for other connections; nil rejects them with HTTP/2's own error.
    let plain: PlainConnections?
    let limit: ConnectionLimit
    let eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<Connection, Never> {
        let plain = plain
        let listening = try await ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // No connection is accepted before the handlers below are installed.
            .serverChannelOption(.autoRead, value: false)
            .serverChannelInitializer { [limit] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ListenerGuard(limit))
                }.flatMap { listenerConfigurator.configure(channel: channel) }
            }
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    let handler = ProtocolDetection { channel, start in
                        if let plain, start != .http2 { return plain(channel, start == .tls) }
                        return Self.configure(channel, connectionConfigurator)
                    }
                    try child.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: host, port: port).get()
        return try await listening.eventLoop.submit {
            let pipeline = listening.pipeline.syncOperations
            try pipeline.addHandler(ConnectionIntake())
            let channel = try NIOAsyncChannel<Connection, Never>(
                wrappingChannelSynchronously: listening)
            try pipeline.addHandler(ConnectionOutlet())
            try listening.syncOptions?.setOption(.autoRead, value: true)
            listening.read()
            return channel
        }.get()
    }

    /// Adds gRPC's handlers to a connection, and passes the connection to the library. Closes the
    /// connection if the port no longer listens.
    private static func configure(
        _ child: any NIOCore.Channel, _ configurator: HTTP2ServerTransport.ConnectionConfigurator
    ) -> EventLoopFuture<Void> {
        guard let parent = child.parent else { return child.eventLoop.makeSucceededVoidFuture() }
        do { try child.pipeline.syncOperations.addHandler(PingHandler()) } catch {
            return child.eventLoop.makeFailedFuture(error)
        }
        return configurator.configure(channel: child, tls: .none).map { connection in
            parent.eventLoop.execute {
                guard parent.isActive else { return child.close(mode: .all, promise: nil) }
                parent.pipeline.fireUserInboundEventTriggered(Configured(connection: connection))
            }
        }
    }

    fileprivate struct Accepted: Sendable { let channel: any NIOCore.Channel }
    fileprivate struct Configured: Sendable { let connection: Connection }
}

/// The handler before the library's handler. Sends accepted channels past it, and connections into
/// it.
private final class ConnectionIntake: ChannelInboundHandler {
    typealias InboundIn = any NIOCore.Channel
    typealias InboundOut = SharedPort.Connection

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(
            SharedPort.Accepted(channel: Self.unwrapInboundIn(data)))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let configured = event as? SharedPort.Configured else {
            return context.fireUserInboundEventTriggered(event)
        }
        context.fireChannelRead(Self.wrapInboundOut(configured.connection))
        context.fireChannelReadComplete()
    }
}

/// The handler after the library's handler. Passes accepted channels to the tail, and consumes
/// connections.
private final class ConnectionOutlet: ChannelInboundHandler {
    typealias InboundIn = SharedPort.Connection
    typealias InboundOut = any NIOCore.Channel

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let accepted = event as? SharedPort.Accepted else {
            return context.fireUserInboundEventTriggered(event)
        }
        context.fireChannelRead(Self.wrapInboundOut(accepted.channel))
    }
}

/// Holds a connection's first bytes until they identify the protocol, then removes itself.
///
/// HTTP/2 with prior knowledge begins with `PRI`; no method of HTTP/1.1 does. A handshake of TLS
/// begins with a byte that no text has. The bytes are passed on in their original buffer.
private final class ProtocolDetection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    enum Start { case http2, tls, other }

    private static let preface = Array("PRI".utf8)
    /// The type of TLS's records in a handshake (RFC 8446, 5.1).
    private static let handshake: UInt8 = 22
    /// The time after which a silent connection is closed.
    private static let patience = TimeAmount.seconds(60)

    private let configure: (any NIOCore.Channel, Start) -> EventLoopFuture<Void>
    private var held: ByteBuffer?
    private var isDetected = false
    private var timer: Scheduled<Void>?

    init(_ configure: @escaping (any NIOCore.Channel, Start) -> EventLoopFuture<Void>) {
        self.configure = configure
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: PatienceScale.scaled(Self.patience)) {
            channel.close(mode: .all, promise: nil)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    /// Closes a connection that has not begun when the port ends.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, !isDetected {
            return context.close(mode: .all, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        if held == nil { held = bytes } else { held?.writeBuffer(&bytes) }
        guard !isDetected, let start = Self.start(of: held) else { return }
        isDetected = true
        timer?.cancel()
        let bound = NIOLoopBound((context, self), eventLoop: context.eventLoop)
        configure(context.channel, start).whenComplete { result in
            let (context, handler) = bound.value
            guard case .success = result else {
                return context.close(mode: .all, promise: nil)
            }
            // The library's handlers wait for this event, but were added after it.
            if start == .http2 { context.fireChannelActive() }
            if let held = handler.held.take() {
                context.fireChannelRead(Self.wrapInboundOut(held))
                context.fireChannelReadComplete()
            }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    /// Returns the protocol of a connection's first bytes; nil if there are too few bytes.
    private static func start(of bytes: ByteBuffer?) -> Start? {
        guard let start = bytes?.readableBytesView.prefix(preface.count), let first = start.first
        else { return nil }
        if first == handshake { return .tls }
        guard preface.starts(with: start) else { return .other }
        return start.count == preface.count ? .http2 : nil
    }
}
