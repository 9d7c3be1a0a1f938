import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
package import NIOCore
import Synchronization
public import TidemarkModel
import TidemarkREST
package import TidemarkWire

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
    private let bodies: BodyBudget
    /// Of those whose caller is not known before the body is read, so that they take no room from others.
    private let handshakes = BodyBudget(limit: 32 << 20)
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
        bodies: BodyBudget = .process,
        executor: any TaskExecutor = globalConcurrentExecutor
    ) {
        self.patience = patience
        self.tls = tls
        self.access = access
        self.bodies = bodies
        service = HTTPService(transport, access: access, bodies: bodies, executor: executor)
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
            let answer = HTTPAnswer.error(RPCStatus(.permissionDenied, refusal.message))
            return request.hasBody
                ? unread(answer, nil, channel, isMultiplexed)
                : Response(answer, toPageOf: nil, partsOn: service.executor)
        case .preflight(let origin): return .firestorePreflight(request, origin: origin)
        case .allowed(let origin):
            if request.method == .options { return Response(status: .ok) }
            let head = RESTRequest(request, body: [], isMultiplexed: isMultiplexed)
            // A body over HTTP/2 need not state its length.
            let hasBody =
                request.hasBody || isMultiplexed && [.post, .put, .patch].contains(request.method)
            // Who calls is asked before anything is kept of what they send.
            let admission = hasBody ? await self.admission(of: head, request) : RESTAdmission()
            let share = (ChannelHub.isHandshake(head) ? handshakes : bodies).share()
            var body: [UInt8] = []
            do throws(RPCStatus) {
                if let refusal = admission.refusal {
                    return unread(refusal, origin, channel, isMultiplexed)
                }
                if hasBody { body = try await self.body(of: request, head, share, channel) }
            } catch { return unread(.error(error), origin, channel, isMultiplexed) }
            defer { withExtendedLifetime(share) {} }
            let answer = await answer(
                RESTRequest(request, body: body, isMultiplexed: isMultiplexed), request, admission,
                channel)
            var response = Response(answer, toPageOf: origin, partsOn: service.executor)
            if request.method == .head { response.body = ResponseBody() }
            return response
        }
    }

    /// Finds out by a request's head whether its body is to be read.
    private func admission(
        of head: RESTRequest, _ request: Hummingbird.Request
    ) async -> RESTAdmission {
        if RESTRoute.isCall(head.path) { return await service.admission(of: head) }
        var admission = RESTAdmission()
        if ChannelHub.isChannel(head) {
            admission.refusal = channels.refusal(of: head)
        } else if Self.isForAdministrators(PageRequest(request, body: [])) {
            do throws(RPCStatus) { try await checkAdministrator(head) } catch {
                admission.refusal = .error(error)
            }
        }
        return admission
    }

    /// The answer to a request whose body is not read. The connection is closed a second later, so that
    /// the answer arrives before, and nobody has to read the rest.
    private func unread(
        _ answer: HTTPAnswer, _ origin: String?, _ channel: any NIOCore.Channel,
        _ isMultiplexed: Bool
    ) -> Response {
        var response = Response(answer, toPageOf: origin, partsOn: service.executor)
        // HTTP/2 has no such field: the channel is a stream's.
        if !isMultiplexed { response.headers[.connection] = "close" }
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(mode: .all, promise: nil) }
        return response
    }

    /// - Throws: For a body that is too large, ends early, or finds no room beside those of others.
    private func body(
        of request: Hummingbird.Request, _ head: RESTRequest, _ share: BodyBudget.Share,
        _ channel: any NIOCore.Channel
    ) async throws(RPCStatus) -> [UInt8] {
        let limit =
            ChannelHub.isHandshake(head) ? ChannelHub.maxHandshakeBytes : RESTRequest.maxBodyBytes
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > limit { throw .bodyTooLarge(limit) }
        do throws(BodyRefusal) {
            return try await request.body.collected(
                upTo: limit, share, on: channel, within: patience.body)
        } catch {
            switch error {
            case .tooLarge: throw .bodyTooLarge(limit)
            case .cutOff: throw .invalidArgument("The body ends early.")
            case .noRoom: throw .bodiesHeld
            }
        }
    }

    /// How paths begin that are for tools, and not for an app's users.
    private static let administrators: Set<String> = ["emulator", "tidemark", "_admin"]

    private static func isForAdministrators(_ page: PageRequest) -> Bool {
        page.path.first.map(administrators.contains) ?? false
    }

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
        if Self.isForAdministrators(page) {
            do throws(RPCStatus) { try await checkAdministrator(request) } catch {
                return .error(error)
            }
        }
        for endpoint in endpoints {
            if let answer = await endpoint.answer(page), case .bytes(let bytes) = answer.body {
                var found = HTTPAnswer(
                    status: answer.status, contentType: answer.type, body: .data(Data(bytes)))
                // A page is held to the same as on the control port.
                found.headers["content-security-policy"] = Response.contentSecurityPolicy
                return found
            }
        }
        return nil
    }

    private func answer(
        _ request: RESTRequest, _ original: Hummingbird.Request, _ admission: RESTAdmission
    ) async -> HTTPAnswer {
        let isREST = RESTRoute.isCall(request.path)
        // What has no body is read at once, and the service knows what takes longer. A body may be large,
        // and what tools ask may read and write whole files: not on the connection's event loop.
        if isREST, request.body.isEmpty { return await service.answer(request) }
        return await withTaskExecutorPreference(service.executor) {
            if !isREST, let answer = await endpoint(request, original) { return answer }
            if let answer = await channels.answer(request) { return answer }
            return await service.answer(request, admission)
        }
    }

    private func answer(
        _ request: RESTRequest, _ original: Hummingbird.Request, _ admission: RESTAdmission,
        _ channel: any NIOCore.Channel
    ) async -> HTTPAnswer {
        if ["GET", "HEAD"].contains(request.method), request.path == "/" {
            return HTTPAnswer(contentType: "text/plain", body: .data(Data("Ok\n".utf8)))
        }
        let answer = await answer(request, original, admission)
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
