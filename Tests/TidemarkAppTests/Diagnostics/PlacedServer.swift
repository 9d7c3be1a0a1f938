import NIOCore
import NIOPosix
import NIOSSL

/// A server that behaves as a test says: with or without a certificate, in front of a Firestore
/// server or with a fixed answer.
final class PlacedServer: Sendable {
    enum Speech: Sendable {
        /// Passes bytes to this local port and back.
        case of(port: Int)
        /// Answers any bytes with this text, and closes the connection.
        case text(String)
        case nothing
    }

    let port: Int
    private let channel: any Channel
    /// Yields once for each accepted connection.
    let connections: AsyncStream<Void>

    private init(_ channel: any Channel, _ connections: AsyncStream<Void>) {
        self.channel = channel
        self.connections = connections
        port = channel.localAddress?.port ?? 0
    }

    /// - Parameter tls: The certificate; nil for a server without TLS.
    static func start(_ speech: Speech, tls: TestCertificate? = nil) async throws -> PlacedServer {
        let context = try tls?.serverContext()
        let (connections, taken) = AsyncStream.makeStream(of: Void.self)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                taken.yield()
                return channel.eventLoop.makeCompletedFuture {
                    guard let context else { return }
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLServerHandler(context: context))
                }.flatMap { speak(speech, on: channel) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return PlacedServer(channel, connections)
    }

    private static func speak(_ speech: Speech, on channel: any Channel) -> EventLoopFuture<Void> {
        switch speech {
        case .nothing: return channel.eventLoop.makeSucceededVoidFuture()
        case .text(let text):
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Answer(text))
            }
        case .of(let port):
            return ClientBootstrap(group: channel.eventLoop).channelInitializer { upstream in
                upstream.eventLoop.makeCompletedFuture {
                    try upstream.pipeline.syncOperations.addHandler(Passage(to: channel))
                }
            }.connect(host: "127.0.0.1", port: port).flatMap { upstream in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Passage(to: upstream))
                }
            }
        }
    }

    func stop() async { try? await channel.close().get() }
}

private final class Answer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let text: String

    init(_ text: String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

private final class Passage: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
