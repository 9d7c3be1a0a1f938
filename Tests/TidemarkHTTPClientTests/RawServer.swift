import NIOCore
import NIOPosix
import Synchronization

/// A server on a port of this machine, which answers each request as a test says, byte by byte.
final class RawServer: Sendable {
    struct Request {
        let line: String
        /// The fields by their names in small letters.
        let fields: [String: String]
        let body: String
        /// The number of the request on its connection, from 1.
        let number: Int

        var path: String { String(line.split(separator: " ").dropFirst().first ?? "") }
    }

    enum Step {
        case send(String)
        /// Sends the first of ``RawServer/bytes(_:)``.
        case sendBytes(count: Int)
        case close
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let state = Mutex((requests: [Request](), opened: 0, closed: 0, sent: 0))
    private let channel = Mutex<(any Channel)?>(nil)
    private let answer: @Sendable (Request) -> [Step]

    init(_ answer: @escaping @Sendable (Request) -> [Step]) { self.answer = answer }

    var requests: [Request] { state.withLock { $0.requests } }
    /// The number of connections that were accepted.
    var openedConnections: Int { state.withLock { $0.opened } }
    /// The number of connections that have ended.
    var closedConnections: Int { state.withLock { $0.closed } }
    /// The number of bytes of ``Step/sendBytes(count:)`` that the system has accepted.
    var sentBytes: Int { state.withLock { $0.sent } }

    /// Serves while `body` runs, which gets the server's address without a slash at its end.
    static func serve(
        _ answer: @escaping @Sendable (Request) -> [Step],
        _ body: (RawServer, String) async throws -> Void
    ) async throws {
        let server = RawServer(answer)
        let address = try await server.start()
        do { try await body(server, address) } catch {
            try await server.stop()
            throw error
        }
        try await server.stop()
    }

    func start() async throws -> String {
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.channel.withLock { $0 = channel }
        return "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }

    func stop() async throws {
        try await channel.withLock { $0 }?.close()
        try await group.shutdownGracefully()
    }

    /// An answer with a length.
    static func whole(_ status: String, _ fields: [String] = [], _ body: String = "") -> [Step] {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        return [.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)]
    }

    /// The path whose connections stay open, although a request asks for the end.
    static let kept = "/kept"

    private static let block = 1 << 20

    /// Returns a part of the bytes of ``Step/sendBytes(count:)``: each MiB has its own number.
    static func bytes(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, (start / block + 1) * block)
            bytes += [UInt8](repeating: UInt8(start / block % 251), count: end - start)
            start = end
        }
        return bytes
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: RawServer
        private var text = ""
        private var number = 0

        init(_ server: RawServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            while let request = next() {
                server.state.withLock { $0.requests.append(request) }
                for step in server.answer(request) { perform(step, context) }
                if request.fields["connection"] == "close", request.path != RawServer.kept {
                    context.close(promise: nil)
                }
            }
        }

        func channelActive(context: ChannelHandlerContext) {
            server.state.withLock { $0.opened += 1 }
        }

        func channelInactive(context: ChannelHandlerContext) {
            server.state.withLock { $0.closed += 1 }
        }

        private func perform(_ step: Step, _ context: ChannelHandlerContext) {
            switch step {
            case .send(let text):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .sendBytes(let count):
                for start in stride(from: 0, to: count, by: RawServer.block) {
                    let bytes = RawServer.bytes(start..<min(count, start + RawServer.block))
                    let sent = context.eventLoop.makePromise(of: Void.self)
                    sent.futureResult.whenSuccess { [server] in
                        server.state.withLock { $0.sent += bytes.count }
                    }
                    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: sent)
                }
            case .close: context.close(promise: nil)
            }
        }

        /// Takes a whole request from the text.
        private func next() -> Request? {
            guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
            let lines = text[..<end.lowerBound].split(separator: "\r\n").map(String.init)
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                fields[parts[0].lowercased()] = parts[1].trimmingPrefix(" ").lowercased()
            }
            let length = fields["content-length"].flatMap { Int($0) } ?? 0
            let rest = text[end.upperBound...]
            guard rest.utf8.count >= length else { return nil }
            number += 1
            let body = String(decoding: rest.utf8.prefix(length), as: UTF8.self)
            text = String(decoding: rest.utf8.dropFirst(length), as: UTF8.self)
            return Request(line: lines.first ?? "", fields: fields, body: body, number: number)
        }
    }
}
