import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on a port of this machine, with the replies of a test.
final class SocketServer: Sendable {
    struct Reply {
        var status: HTTPResponseStatus = .ok
        var fields: [(String, String)] = []
        var body: [UInt8] = []
        /// The number of bytes of the body after which the server cuts the connection.
        var cutAfter: Int?
        /// The number of bytes of the body after which the server sends nothing more.
        var stopsAfter: Int?
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let requests = Mutex<[HTTPRequestHead]>([])
    private let channel = Mutex<(any Channel)?>(nil)
    private let answer: @Sendable (HTTPRequestHead, _ number: Int) -> Reply

    init(_ answer: @escaping @Sendable (HTTPRequestHead, _ number: Int) -> Reply) {
        self.answer = answer
    }

    var heads: [HTTPRequestHead] { requests.withLock { $0 } }

    /// - Returns: The address of a picture on the server.
    func start() async throws -> String {
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.channel.withLock { $0 = channel }
        return "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/a"
    }

    func stop() async throws {
        try await channel.withLock { $0 }?.close()
        try await group.shutdownGracefully()
    }

    private func reply(_ head: HTTPRequestHead) -> Reply {
        let number = requests.withLock { requests in
            requests.append(head)
            return requests.count - 1
        }
        return answer(head, number)
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let server: SocketServer

        init(_ server: SocketServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .head(let request) = unwrapInboundIn(data) else { return }
            let reply = server.reply(request)
            var head = HTTPResponseHead(version: .http1_1, status: reply.status)
            for field in reply.fields { head.headers.add(name: field.0, value: field.1) }
            if reply.status != .notModified {
                head.headers.add(name: "content-length", value: "\(reply.body.count)")
            }
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            let body = ByteBuffer(
                bytes:
                    reply.body.prefix(reply.cutAfter ?? reply.stopsAfter ?? reply.body.count))
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            if reply.stopsAfter != nil {
                context.flush()
            } else if reply.cutAfter != nil {
                context.flush()
                context.close(promise: nil)
            } else {
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
