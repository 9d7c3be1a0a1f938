import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
package import NIOCore
import Synchronization
public import TidemarkModel
import TidemarkREST

/// Firestore over HTTP, on connections that something else has accepted: REST, WebChannel, and the
/// endpoints of Firebase's emulator. Without encryption it is HTTP/1.1, with it HTTP/2 too.
///
/// Pages of this machine may call it, with credentials, and those that ``WebPolicy`` names. A request's
/// head arrives in 30 s, its body of at most 11 MiB in 60 s, or the connection is closed; so is one that
/// asks for nothing in 2 minutes. 10,000 connections may be open.
public final class FirestoreHTTP: Sendable {
    static let maxConnections = 10_000

    private let patience: RequestPatience
    private let access: (any CallerGate)?
    private let service: HTTPService
    private let channels: ChannelHub
    private let web: WebPolicy
    private let endpoints: [any WebPages]
    private let tls: ServerTLS?
    private let logger: Logger
    private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

    private struct Connection {
        let channel: any NIOCore.Channel
        /// The long answer that it reads; nil for none. There is one at a time: each request over HTTP/2 has
        /// a channel of its own.
        var parts: (any HTTPParts)?
    }

    /// - Parameters:
    ///   - access: Who may call, by the bearer token; nil asks for nothing.
    ///   - web: Which names and pages may call.
    ///   - endpoints: What is at paths that are not Firestore's own, the first that knows one.
    ///   - tls: How connections are encrypted that ask for it; nil closes them.
    public convenience init(
        _ transport: any Transport, access: (any CallerGate)?, web: WebPolicy,
        endpoints: [any WebPages] = [], tls: ServerTLS? = nil
    ) {
        self.init(
            transport, access: access, web: web, endpoints: endpoints, tls: tls,
            patience: RequestPatience())
    }

    /// - Parameter executor: Runs what may not hold up a connection's event loop: calls that take longer
    ///   than a document's read, large parts of an answer, and what tools ask for.
    package init(
        _ transport: any Transport, access: (any CallerGate)?, web: WebPolicy,
        endpoints: [any WebPages], tls: ServerTLS? = nil, patience: RequestPatience,
        executor: any TaskExecutor = globalConcurrentExecutor
    ) {
        self.patience = patience
        self.tls = tls
        self.access = access
        service = HTTPService(transport, access: access, executor: executor)
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
        for connection in open { connection.channel.close(mode: .all, promise: nil) }
    }

    /// Takes a connection whose next bytes are HTTP/1.1. On its event loop.
    package func accept(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let head = HeadPatience(patience.head)
        guard register(channel) else { return channel.close(mode: .all) }
        let http = HTTP1Channel(
            responder: { [self] request, writer, channel in
                head.requestBegan()
                defer { head.requestEnded() }
                try await respond(request, writer, channel, isMultiplexed: false)
            }, configuration: .init(idleTimeout: patience.idle))
        let logger = logger
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(head)
        }.flatMap {
            http.setup(channel: channel, logger: logger)
        }.map { value in
            Task(executorPreference: EventLoopTasks(channel.eventLoop)) {
                await http.handle(value: value, logger: logger)
            }
        }
    }

    /// Takes a connection whose next bytes are TLS's. On its event loop.
    package func acceptEncrypted(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        guard let tls, register(channel) else { return channel.close(mode: .all) }
        return tls.accept(channel, within: patience.head) { [self] channel, isHTTP2 in
            isHTTP2 ? acceptHTTP2(channel) : accept(channel)
        }
    }

    /// Takes a connection that has agreed on HTTP/2.
    private func acceptHTTP2(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let http = HTTP2Channel(
            responder: { [self] request, writer, stream in
                guard register(stream) else { return try await stream.close() }
                try await respond(request, writer, stream, isMultiplexed: true)
            },
            configuration: .init(
                idleTimeout: .nanoseconds(patience.idle.nanoseconds),
                streamConfiguration: .init(idleTimeout: patience.idle)))
        let logger = logger
        return http.setup(channel: channel, logger: logger).map { value in
            Task(executorPreference: EventLoopTasks(channel.eventLoop)) {
                await http.handle(value: value, logger: logger)
            }
        }
    }

    /// Keeps a channel until it closes.
    ///
    /// - Returns: False if there are too many.
    private func register(_ channel: any NIOCore.Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isKept, isNew) = connections.withLock { connections in
            if connections[id] != nil { return (true, false) }
            if connections.count >= Self.maxConnections { return (false, false) }
            connections[id] = Connection(channel: channel)
            return (true, true)
        }
        guard isNew else { return isKept }
        channel.closeFuture.whenComplete { [weak self] _ in
            // A reader that leaves is noticed while nothing is written, too.
            self?.connections.withLock { $0.removeValue(forKey: id) }?.parts?.close()
        }
        return true
    }

    private func respond(
        _ request: Hummingbird.Request, _ writer: consuming ResponseWriter,
        _ channel: any NIOCore.Channel, isMultiplexed: Bool
    ) async throws {
        let response = await response(to: request, channel, isMultiplexed: isMultiplexed)
        try await writer.write(response: response.head, body: response.body)
    }

    private func response(
        to request: Hummingbird.Request, _ channel: any NIOCore.Channel, isMultiplexed: Bool
    ) async -> Response {
        if isMultiplexed, request.headers[.contentType]?.hasPrefix("application/grpc") == true {
            return .gRPCIsElsewhere
        }
        var call = WebCall(request)
        // Google's own clients say text/plain for JSON. Their pages are told apart by their origin.
        call.isAnyContentExpected = true
        switch web.verdict(on: call) {
        case .refused(let refusal):
            return Response(
                .error(RPCStatus(.permissionDenied, refusal.message)), toPageOf: nil,
                partsOn: service.executor)
        case .preflight(let origin): return .firestorePreflight(request, origin: origin)
        case .allowed(let origin):
            if request.method == .options { return Response(status: .ok) }
            guard let body = await body(of: request, channel, isMultiplexed) else {
                var refused = Response(
                    .error(.bodyTooLarge), toPageOf: origin, partsOn: service.executor)
                // The rest of the body is not read. HTTP/2 has no such field.
                if !isMultiplexed { refused.headers[.connection] = "close" }
                return refused
            }
            let rest = RESTRequest(request, body: body, isMultiplexed: isMultiplexed)
            let answer = await answer(rest, request, channel)
            var response = Response(answer, toPageOf: origin, partsOn: service.executor)
            if request.method == .head { response.body = ResponseBody() }
            return response
        }
    }

    /// Nil for one that is too large.
    private func body(
        of request: Hummingbird.Request, _ channel: any NIOCore.Channel, _ isMultiplexed: Bool
    ) async -> [UInt8]? {
        if let length = request.headers[.contentLength].flatMap({ Int($0) }),
            length > RESTRequest.maxBodyBytes
        {
            return nil
        }
        // A body over HTTP/2 need not say its length.
        let saysNothing =
            request.headers[.contentLength] == nil && request.headers[.transferEncoding] == nil
        if saysNothing, !isMultiplexed { return [] }
        let timer = channel.eventLoop.scheduleTask(in: patience.body) {
            channel.close(mode: .all, promise: nil)
        }
        defer { timer.cancel() }
        guard let bytes = try? await request.body.collect(upTo: RESTRequest.maxBodyBytes) else {
            return nil
        }
        return Array(buffer: bytes)
    }

    /// How paths begin that are for tools, and not for an app's users.
    private static let administrators: Set<String> = ["emulator", "tidemark", "_admin"]

    /// What tools do to a whole server is an administrator's, where callers show who they are.
    private func checkAdministrator(_ request: RESTRequest) async throws(RPCStatus) {
        guard let access else { return }
        let caller = try await access.caller(
            HTTPService.token(request.headers), method: request.path)
        if caller.userID != nil {
            throw RPCStatus(.permissionDenied, "Only an administrator may ask this.")
        }
    }

    /// Nil where there is none at the path.
    private func endpoint(
        _ request: RESTRequest, _ original: Hummingbird.Request
    ) async -> HTTPAnswer? {
        let page = PageRequest(original, body: request.body)
        if let first = page.path.first, Self.administrators.contains(first) {
            do throws(RPCStatus) { try await checkAdministrator(request) } catch {
                return .error(error)
            }
        }
        for endpoint in endpoints {
            if let answer = await endpoint.answer(page), case .bytes(let bytes) = answer.body {
                return HTTPAnswer(
                    status: answer.status, contentType: answer.type, body: .data(Data(bytes)))
            }
        }
        return nil
    }

    private func answer(
        _ request: RESTRequest, _ original: Hummingbird.Request
    ) async -> HTTPAnswer {
        let isREST = RESTRoute.isCall(request.path)
        // What has no body is read at once, and the service knows what takes longer. A body may be large,
        // and what tools ask may read and write whole files: not on the connection's event loop.
        if isREST, request.body.isEmpty { return await service.answer(request) }
        return await withTaskExecutorPreference(service.executor) {
            if !isREST, let answer = await endpoint(request, original) { return answer }
            if let answer = await channels.answer(request) { return answer }
            return await service.answer(request)
        }
    }

    private func answer(
        _ request: RESTRequest, _ original: Hummingbird.Request, _ channel: any NIOCore.Channel
    ) async -> HTTPAnswer {
        if ["GET", "HEAD"].contains(request.method), request.path == "/" {
            return HTTPAnswer(contentType: "text/plain", body: .data(Data("Ok\n".utf8)))
        }
        let answer = await answer(request, original)
        var parts: (any HTTPParts)?
        if case .parts(let reading) = answer.body { parts = reading }
        let isOpen = connections.withLock { connections in
            connections[ObjectIdentifier(channel)]?.parts = parts
            return connections[ObjectIdentifier(channel)] != nil
        }
        if !isOpen { parts?.close() }
        return answer
    }
}
