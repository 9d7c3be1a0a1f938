import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization
public import TidemarkModel
public import TidemarkServer
import TidemarkWire

/// Sends the requests that security rules judge over a WebSocket. The emulator serves the same feed
/// at `ws://HOST:PORT/requests`, and Google's emulator pages show it.
///
/// The first message is an array of the last 500 requests. Each further message is an object with
/// one request: `rulesContext` (the values of `request` and `resource`), `outcome`, and the result
/// of each `allow`. Calls of administrators are not judged and not sent. A reader that is 500
/// requests behind misses the oldest of them.
///
/// ``WebPolicy`` refuses pages of other sites by their `Origin`. If the server has a token, readers
/// must send it. A refused reader receives only a close frame with code 1008.
public final class RequestsFeed: Sendable {
    /// The maximum number of readers. Further readers are refused.
    static let maxReaders = 32
    /// The default limit of open connections. Most connections are readers that are either admitted
    /// or refused immediately.
    public static let maxConnections = 200
    /// The maximum frame of a reader, in bytes. The feed uses only control frames.
    private static let maxFrameBytes = 16_384

    private let server: FirestoreServer
    private let host: String
    private let port: Int
    private let access: AccessToken?
    private let web: WebPolicy
    private let readers = Mutex(0)
    private let connections: ConnectionLimit

    /// - Parameters:
    ///   - server: The server whose requests are sent.
    ///   - host: The address to listen on.
    ///   - port: The port; 0 for a free port.
    ///   - access: The token that a reader must send as a bearer token; nil requires no token.
    ///   - web: The host names and pages that may read; nil allows those of loopback and of `host`.
    ///   - maxConnections: The maximum number of open connections. A further connection is closed
    ///     immediately.
    public init(
        _ server: FirestoreServer, host: String, port: Int, access: AccessToken? = nil,
        web: WebPolicy? = nil, maxConnections: Int = RequestsFeed.maxConnections
    ) {
        self.server = server
        self.host = host
        self.port = port
        self.access = access
        self.web = web ?? WebPolicy(listeningOn: host)
        connections = ConnectionLimit(most: maxConnections)
    }

    private typealias Frames = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>
    private typealias Plain = NIOAsyncChannel<
        HTTPServerRequestPart, HTTPPart<HTTPResponseHead, ByteBuffer>
    >
    private enum Connection: Sendable { case reader(Frames, refusal: String?), plain(Plain) }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter ready: Called with the port when readers are accepted.
    /// - Throws: ``ControlServerError`` if the feed cannot listen at the address.
    public func run(ready: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let listener: NIOAsyncChannel<EventLoopFuture<Connection>, Never>
        do {
            listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelInitializer { [connections] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(ListenerGuard(connections))
                    }
                }
                .bind(host: host == "localhost" ? "127.0.0.1" : host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let head = HeadPatience(RequestPatience().head, fromStart: true)
                        try channel.pipeline.syncOperations.addHandler(head)
                        return try self.upgrade(channel)
                    }
                }
        } catch {
            throw ControlServerError(message: "Cannot listen on \(host):\(port): \(error)")
        }
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { connections in
                ready(listener.channel.localAddress?.port ?? port)
                for try await connection in connections {
                    group.addTask {
                        // An error of one reader has no effect on other readers.
                        try? await self.serve(try await connection.get())
                    }
                }
            }
        }
    }

    // MARK: The handshake

    private func upgrade(_ channel: any Channel) throws -> EventLoopFuture<Connection> {
        let upgrader = NIOTypedWebSocketServerUpgrader<Connection>(
            maxFrameSize: Self.maxFrameBytes,
            // A refused reader learns the reason from the close frame of the WebSocket.
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    .reader(
                        try Frames(wrappingChannelSynchronously: channel),
                        refusal: self.refusal(of: head)?.text)
                }
            })
        let configuration = NIOTypedHTTPServerUpgradeConfiguration<Connection>(
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ResponseParts())
                    return .plain(try Plain(wrappingChannelSynchronously: channel))
                }
            })
        return try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: NIOUpgradableHTTPServerPipelineConfiguration(
                upgradeConfiguration: configuration))
    }

    /// Returns the reason to refuse a reader; nil if the reader is admitted.
    private func refusal(of head: HTTPRequestHead) -> (status: HTTPResponseStatus, text: String)? {
        var call = WebCall()
        call.method = head.method.rawValue
        call.hosts = head.headers["host"]
        call.origins = head.headers["origin"]
        call.fetch = FetchMetadata { head.headers[$0] }
        if case .refused(let refusal) = web.verdict(on: call) {
            return (HTTPResponseStatus(statusCode: refusal.status), refusal.message)
        }
        if let access, !access.matches(authorization: head.headers.first(name: "authorization")) {
            return (.unauthorized, "This server needs its token.")
        }
        guard head.uri == "/requests" || head.uri.hasPrefix("/requests?") else {
            return (.notFound, "The feed is at /requests.")
        }
        return nil
    }

    private func serve(_ connection: Connection) async throws {
        switch connection {
        case .reader(let channel, nil):
            guard enter() else {
                return try await close(channel, "The feed already has \(Self.maxReaders) readers.")
            }
            defer { readers.withLock { $0 -= 1 } }
            try await feed(channel)
        case .reader(let channel, let refusal?): try await close(channel, refusal)
        case .plain(let channel): try await refuse(channel)
        }
    }

    /// Counts a new reader. Returns false if there are too many.
    private func enter() -> Bool {
        readers.withLock { count in
            if count >= Self.maxReaders { return false }
            count += 1
            return true
        }
    }

    /// Closes with the code for a policy violation, and as much of the reason as fits.
    private func close(_ channel: Frames, _ reason: String) async throws {
        try await channel.executeThenClose { _, output in
            var data = ByteBuffer()
            data.write(webSocketErrorCode: .policyViolation)
            data.writeString(String(reason.unicodeScalars.prefix(40)))
            try await output.write(
                WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
        }
    }

    private func refuse(_ channel: Plain) async throws {
        try await channel.executeThenClose { requests, answers in
            for try await case .head(let head) in requests {
                let refusal =
                    refusal(of: head) ?? (.upgradeRequired, "The feed is a WebSocket.")
                let body = ByteBuffer(string: refusal.text + "\n")
                let headers: HTTPHeaders = [
                    "content-type": "text/plain; charset=utf-8",
                    "content-length": "\(body.readableBytes)", "connection": "close",
                ]
                let answer = HTTPResponseHead(
                    version: head.version, status: refusal.status, headers: headers)
                try await answers.write(contentsOf: [.head(answer), .body(body), .end(nil)])
                return
            }
        }
    }

    // MARK: The feed

    private func feed(_ channel: Frames) async throws {
        try await channel.executeThenClose { frames, output in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let (latest, news) = self.server.watchJudgedRequests()
                    try await output.write(.text(FeedEntry.text(of: latest.map(FeedEntry.init))))
                    for await request in news {
                        try await output.write(.text(FeedEntry(request).text))
                    }
                }
                group.addTask { try await Self.answer(frames, output) }
                // The reader has closed the connection or is no longer connected.
                try await group.next()
                group.cancelAll()
            }
        }
    }

    /// Answers pings until the reader closes the connection.
    private static func answer(
        _ frames: NIOAsyncChannelInboundStream<WebSocketFrame>,
        _ output: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async throws {
        for try await frame in frames {
            switch frame.opcode {
            case .ping:
                try await output.write(
                    WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData))
            case .connectionClose:
                var said = frame.unmaskedData
                let code = said.readSlice(length: min(2, said.readableBytes)) ?? ByteBuffer()
                try await output.write(
                    WebSocketFrame(fin: true, opcode: .connectionClose, data: code))
                return
            default: break
            }
        }
    }
}

extension WebSocketFrame {
    fileprivate static func text(_ data: Data) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: data))
    }
}

/// Converts the parts of an answer for HTTP's encoder.
private final class ResponseParts: ChannelOutboundHandler {
    typealias OutboundIn = HTTPPart<HTTPResponseHead, ByteBuffer>
    typealias OutboundOut = HTTPServerResponsePart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part: HTTPServerResponsePart =
            switch unwrapOutboundIn(data) {
            case .head(let head): .head(head)
            case .body(let bytes): .body(.byteBuffer(bytes))
            case .end(let trailers): .end(trailers)
            }
        context.write(wrapOutboundOut(part), promise: promise)
    }
}
