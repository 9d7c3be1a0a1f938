import Foundation
import Hummingbird
import HummingbirdCore
import Logging
package import NIOCore
import Synchronization
public import TidemarkModel
import TidemarkREST

/// Firestore over HTTP/1.1, on connections that something else has accepted: REST, WebChannel, and the
/// endpoints of Firebase's emulator.
///
/// Pages of this machine may call it, with credentials, and those that ``WebPolicy`` names. A request takes
/// at most 11 MiB and 60 s to arrive; what a connection does not ask for in 2 minutes closes it; 10,000
/// connections may be open.
public final class FirestoreHTTP: Sendable {
    static let maxConnections = 10_000
    /// How long a request's body may take to arrive.
    static let bodyPatience = TimeAmount.seconds(60)
    /// How long a connection may ask for nothing.
    static let idleTimeout = TimeAmount.seconds(120)

    private let service: HTTPService
    private let channels: ChannelHub
    private let web: WebPolicy
    private let endpoints: [any WebPages]
    private let logger: Logger
    private let connections = Mutex<[ObjectIdentifier: any NIOCore.Channel]>([:])

    /// - Parameters:
    ///   - access: Who may call, by the bearer token; nil asks for nothing.
    ///   - web: Which names and pages may call.
    ///   - endpoints: What is at paths that are not Firestore's own, the first that knows one.
    public init(
        _ transport: any Transport, access: (any CallerGate)?, web: WebPolicy,
        endpoints: [any WebPages] = []
    ) {
        service = HTTPService(transport, access: access)
        channels = ChannelHub(service)
        self.web = web
        self.endpoints = endpoints
        var logger = Logger(label: "tidemark.firestore")
        // What goes wrong is told to the caller; the library's own lines are for its authors.
        logger.logLevel = .critical
        self.logger = logger
    }

    /// Keeps channels alive and drops idle ones, until the task is cancelled; then closes all connections.
    public func run() async {
        await channels.run()
        let open = connections.withLock { Array($0.values) }
        for channel in open { channel.close(mode: .all, promise: nil) }
    }

    /// Takes a connection whose next bytes are HTTP/1.1. On its event loop.
    package func accept(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        let isFull = connections.withLock { connections in
            if connections.count >= Self.maxConnections { return true }
            connections[id] = channel
            return false
        }
        if isFull { return channel.close(mode: .all) }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.connections.withLock { _ = $0.removeValue(forKey: id) }
        }
        let http = HTTP1Channel(
            responder: { [self] request, writer, channel in
                try await respond(request, writer, channel)
            }, configuration: .init(idleTimeout: Self.idleTimeout))
        let logger = logger
        return http.setup(channel: channel, logger: logger).map { value in
            Task { await http.handle(value: value, logger: logger) }
        }
    }

    private func respond(
        _ request: Hummingbird.Request, _ writer: consuming ResponseWriter,
        _ channel: any NIOCore.Channel
    ) async throws {
        let response = await response(to: request, channel)
        try await writer.write(response: response.head, body: response.body)
    }

    private func response(
        to request: Hummingbird.Request, _ channel: any NIOCore.Channel
    ) async -> Response {
        var call = WebCall(request)
        // Google's own clients say text/plain for JSON. Their pages are told apart by their origin.
        call.isAnyContentExpected = true
        switch web.verdict(on: call) {
        case .refused(let refusal):
            return Response(.error(RPCStatus(.permissionDenied, refusal.message)), toPageOf: nil)
        case .preflight(let origin): return .firestorePreflight(request, origin: origin)
        case .allowed(let origin):
            if request.method == .options { return Response(status: .ok) }
            guard let body = await body(of: request, channel) else {
                var refused = Response(.error(.bodyTooLarge), toPageOf: origin)
                // The rest of the body is not read.
                refused.headers[.connection] = "close"
                return refused
            }
            let answer = await answer(RESTRequest(request, body: body), request, channel)
            var response = Response(answer, toPageOf: origin)
            if request.method == .head { response.body = ResponseBody() }
            return response
        }
    }

    /// Nil for one that is too large.
    private func body(
        of request: Hummingbird.Request, _ channel: any NIOCore.Channel
    ) async -> [UInt8]? {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }),
            length > RESTRequest.maxBodyBytes
        {
            return nil
        }
        let timer = channel.eventLoop.scheduleTask(in: Self.bodyPatience) {
            channel.close(mode: .all, promise: nil)
        }
        defer { timer.cancel() }
        guard let bytes = try? await request.body.collect(upTo: RESTRequest.maxBodyBytes) else {
            return nil
        }
        return Array(buffer: bytes)
    }

    private func answer(
        _ request: RESTRequest, _ original: Hummingbird.Request, _ channel: any NIOCore.Channel
    ) async -> HTTPAnswer {
        if ["GET", "HEAD"].contains(request.method), request.path == "/" {
            return HTTPAnswer(contentType: "text/plain", body: .data(Data("Ok\n".utf8)))
        }
        let page = PageRequest(original, body: request.body)
        for endpoint in endpoints {
            if let answer = await endpoint.answer(page), case .bytes(let bytes) = answer.body {
                return HTTPAnswer(
                    status: answer.status, contentType: answer.type, body: .data(Data(bytes)))
            }
        }
        let answer: HTTPAnswer
        if let channel = await channels.answer(request) {
            answer = channel
        } else {
            answer = await service.answer(request)
        }
        if case .parts(let parts) = answer.body {
            // A reader that leaves is noticed while nothing is written, too.
            channel.closeFuture.whenComplete { _ in parts.close() }
        }
        return answer
    }
}
