import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves pictures on a port of this machine: with tags, whole or from an offset, and with
/// simulated faults. Counts requests and sent bytes by label.
package final class PictureServer: Sendable {
    /// The counts for one label.
    package struct Served: Sendable {
        package var requests = 0
        /// The number of complete answers, including complete remainders.
        package var whole = 0
        /// The number of bytes of bodies.
        package var bytes = 0
    }

    /// The treatment of a request.
    private enum Fate { case served, brokenOff, refused, hungUp }

    private let pictures: [[UInt8]]
    private let served = Mutex<[String: Served]>([:])
    private let channel = Mutex<(any Channel)?>(nil)

    /// - Parameter pictures: The JPEG files. Every number has a picture; the files repeat.
    package init(_ pictures: [[UInt8]]) {
        precondition(!pictures.isEmpty)
        self.pictures = pictures
    }

    /// - Returns: The port.
    package func start() async throws -> Int {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(PictureHandler(self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.channel.withLock { $0 = channel }
        return channel.localAddress?.port ?? 0
    }

    package func stop() async { try? await channel.withLock { $0 }?.close() }

    package func served(_ label: String) -> Served { served.withLock { $0[label] ?? Served() } }

    /// Returns the total size of the first `count` pictures in bytes.
    package func bytes(of count: Int) -> Int {
        (0..<count).reduce(0) { $0 + pictures[$1 % pictures.count].count }
    }

    /// Answers `/LABEL/NUMBER` or `/LABEL/failing/NUMBER`.
    fileprivate func answer(_ request: HTTPRequestHead) -> PictureReply {
        let parts = request.uri.split(separator: "/").map(String.init)
        guard parts.count >= 2, let number = parts.last.flatMap({ Int($0) }), number >= 0 else {
            return PictureReply(status: .notFound)
        }
        let file = pictures[number % pictures.count]
        let fate = parts.count == 3 ? fate(parts[0]) : .served
        var reply = PictureReply(status: .ok, body: file[...])
        reply.fields = [
            ("etag", "\"\(number)\""), ("cache-control", "max-age=3600"),
            ("content-type", "image/jpeg"),
        ]
        if let start = start(request, tag: "\"\(number)\"", file.count) {
            reply.status = .partialContent
            reply.body = file[start...]
            reply.fields.append(
                ("content-range", "bytes \(start)-\(file.count - 1)/\(file.count)"))
        }
        switch fate {
        case .served: break
        case .brokenOff: reply.sends = reply.body.count * 2 / 5
        case .refused: reply = PictureReply(status: .serviceUnavailable)
        case .hungUp: reply.sends = -1
        }
        note(parts[0], reply)
        return reply
    }

    /// Returns the treatment of the next request of a label. Of every ten requests three fail, in a
    /// fixed order: the first in the middle of its body, the second with 503, the sixth before it
    /// is answered.
    private func fate(_ label: String) -> Fate {
        switch served.withLock({ $0[label]?.requests ?? 0 }) % 10 {
        case 0: .brokenOff
        case 1: .refused
        case 5: .hungUp
        default: .served
        }
    }

    private func start(_ request: HTTPRequestHead, tag: String, _ count: Int) -> Int? {
        guard request.headers.first(name: "if-range") == tag,
            let range = request.headers.first(name: "range"),
            let start = Int(range.dropFirst("bytes=".count).dropLast()), start < count
        else { return nil }
        return start
    }

    private func note(_ label: String, _ reply: PictureReply) {
        served.withLock { served in
            var one = served[label] ?? Served()
            one.requests += 1
            if reply.sends == nil, !reply.body.isEmpty { one.whole += 1 }
            one.bytes += max(0, reply.sends ?? reply.body.count)
            served[label] = one
        }
    }
}

private struct PictureReply {
    var status: HTTPResponseStatus
    var fields: [(String, String)] = []
    var body: ArraySlice<UInt8> = []
    /// The number of bytes of the body to send before the connection is cut; -1 to send not even
    /// the head.
    var sends: Int?
}

private final class PictureHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: PictureServer

    init(_ server: PictureServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let request) = unwrapInboundIn(data) else { return }
        let reply = server.answer(request)
        if reply.sends == -1 { return context.close(promise: nil) }
        var head = HTTPResponseHead(version: .http1_1, status: reply.status)
        for field in reply.fields { head.headers.add(name: field.0, value: field.1) }
        head.headers.add(name: "content-length", value: "\(reply.body.count)")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let body = ByteBuffer(bytes: reply.body.prefix(reply.sends ?? reply.body.count))
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        if reply.sends == nil {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        } else {
            let isSent = context.eventLoop.makePromise(of: Void.self)
            let channel = context.channel
            isSent.futureResult.whenComplete { _ in channel.close(promise: nil) }
            context.writeAndFlush(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: isSent)
        }
    }
}
