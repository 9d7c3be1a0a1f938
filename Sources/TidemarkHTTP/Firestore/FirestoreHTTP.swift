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

/// Serves Firestore over HTTP on accepted connections: REST, WebChannel, and the endpoints of
/// Firebase's emulator. Connections without encryption use HTTP/1.1; encrypted connections also use
/// HTTP/2.
///
/// Pages of this machine may call with credentials, and also the pages that ``WebPolicy`` names. A
/// request's head must arrive in 30 s and its body in 60 s, and a connection may be idle for 2
/// minutes. Otherwise, the connection is closed. A body has at most 11 MiB, or 24 MiB where a
/// database is of the Enterprise edition. Up to 10,000 connections and HTTP/2 requests can be open
/// at the same time.
public final class FirestoreHTTP: Sendable {
    static let maxConnections = 10_000

    private let patience: RequestPatience
    private let access: (any CallerGate)?
    private let service: HTTPService
    private let bodies: BodyBudget
    private let maxBodyBytes: Int
    /// The budget of bodies whose callers are still unknown. It is separate, so these bodies take
    /// no room from others.
    private let handshakes = BodyBudget(limit: 32 << 20)
    private let channels: ChannelHub
    private let web: WebPolicy
    private let endpoints: [any WebPages]
    private let tls: ServerTLS?
    private let logger: Logger
    private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

    private struct Connection {
        let channel: any NIOCore.Channel
        /// The long answer that the connection reads; nil if there is none. A connection reads one
        /// answer at a time, because each HTTP/2 request has its own channel.
        var parts: (any HTTPParts)?
    }

    /// - Parameters:
    ///   - access: Decides who may call, by the bearer token; nil admits every caller.
    ///   - web: The host names and pages that may call.
    ///   - endpoints: The pages at other paths. The first that knows a path answers.
    ///   - tls: Encrypts connections that start with TLS; nil closes them.
    ///   - hasLargeDocuments: True if a database is of the Enterprise edition.
    public convenience init(
        _ transport: any Transport, access: (any CallerGate)?, web: WebPolicy,
        endpoints: [any WebPages] = [], tls: ServerTLS? = nil, hasLargeDocuments: Bool = false
    ) {
        self.init(
            transport, access: access, web: web, endpoints: endpoints, tls: tls,
            hasLargeDocuments: hasLargeDocuments, patience: RequestPatience())
    }

    /// - Parameter executor: Runs work that must not delay a connection's event loop: calls that
    ///   take longer than a document's read, large parts of an answer, and the requests of tools.
    package init(
        _ transport: any Transport, access: (any CallerGate)?, web: WebPolicy,
        endpoints: [any WebPages], tls: ServerTLS? = nil, hasLargeDocuments: Bool = false,
        patience: RequestPatience, bodies: BodyBudget = .process,
        executor: any TaskExecutor = globalConcurrentExecutor
    ) {
        self.patience = patience
        self.tls = tls
        self.access = access
        self.bodies = bodies
        maxBodyBytes =
            hasLargeDocuments ? RESTRequest.maxLargeBodyBytes : RESTRequest.maxBodyBytes
        service = HTTPService(transport, access: access, bodies: bodies, executor: executor)
        channels = ChannelHub(service)
        self.web = web
        self.endpoints = endpoints
        var logger = Logger(label: "tidemark.firestore")
        // Errors are reported to the caller. The log lines of the library are of no use to users.
        logger.logLevel = .critical
        self.logger = logger
    }

    /// Sends keep-alives and drops idle channels until the task is cancelled. Then closes all
    /// connections.
    public func run() async {
        await channels.run()
        let open = connections.withLock { Array($0.values) }
        for connection in open { connection.channel.close(mode: .all, promise: nil) }
    }

    /// Accepts a connection whose next bytes are HTTP/1.1. Must be called on the connection's event
    /// loop.
    package func accept(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let head = HeadPatience(patience.head)
        guard register(channel) else { return channel.close(mode: .all) }
        let http = HTTP1Channel(
            responder: { [self] request, writer, channel in
                head.requestBegan()
                defer { head.requestEnded() }
                try await respond(request, writer: writer, channel: channel, isMultiplexed: false)
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

    /// Accepts a connection whose next bytes are TLS. Must be called on the connection's event
    /// loop.
    package func acceptEncrypted(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        guard let tls, register(channel) else { return channel.close(mode: .all) }
        return tls.accept(channel, within: patience.head) { [self] channel, isHTTP2 in
            isHTTP2 ? acceptHTTP2(channel) : accept(channel)
        }
    }

    /// Accepts a connection that has negotiated HTTP/2.
    private func acceptHTTP2(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let http = HTTP2Channel(
            responder: { [self] request, writer, stream in
                guard register(stream) else { return try await stream.close() }
                try await respond(request, writer: writer, channel: stream, isMultiplexed: true)
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
            // The end of a reader is also noticed while nothing is written.
            self?.connections.withLock { $0.removeValue(forKey: id) }?.parts?.close()
        }
        return true
    }

    private func respond(
        _ request: Hummingbird.Request, writer: consuming ResponseWriter,
        channel: any NIOCore.Channel, isMultiplexed: Bool
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
        // Google's clients declare JSON as text/plain. The origin identifies their pages.
        call.isAnyContentExpected = true
        switch web.verdict(on: call) {
        case .refused(let refusal):
            let answer = HTTPAnswer.error(RPCStatus(.permissionDenied, refusal.message))
            return request.hasBody
                ? unread(answer, origin: nil, channel: channel, isMultiplexed: isMultiplexed)
                : Response(answer, toPageOf: nil, partsOn: service.executor)
        case .preflight(let origin): return .firestorePreflight(request, origin: origin)
        case .allowed(let origin):
            if request.method == .options { return Response(status: .ok) }
            let head = RESTRequest(request, body: [], isMultiplexed: isMultiplexed)
            // A body over HTTP/2 need not state its length.
            let hasBody =
                request.hasBody || isMultiplexed && [.post, .put, .patch].contains(request.method)
            // The caller is checked before any part of the body is kept.
            let admission = hasBody ? await self.admission(of: head, request) : RESTAdmission()
            let share = (ChannelHub.isHandshake(head) ? handshakes : bodies).share()
            var body: [UInt8] = []
            do throws(RPCStatus) {
                if let refusal = admission.refusal {
                    return unread(
                        refusal, origin: origin, channel: channel, isMultiplexed: isMultiplexed)
                }
                if hasBody {
                    body = try await self.body(
                        of: request, head: head, share: share, channel: channel)
                }
            } catch {
                return unread(
                    .error(error), origin: origin, channel: channel, isMultiplexed: isMultiplexed)
            }
            defer { withExtendedLifetime(share) {} }
            let answer = await answer(
                RESTRequest(request, body: body, isMultiplexed: isMultiplexed), original: request,
                admission: admission,
                channel: channel)
            var response = Response(answer, toPageOf: origin, partsOn: service.executor)
            if request.method == .head { response.body = ResponseBody() }
            return response
        }
    }

    /// Decides from a request's head if its body must be read.
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

    /// Returns an answer whose request's body is not read. The connection is closed one second
    /// later: after the answer arrives, and without the rest of the body.
    private func unread(
        _ answer: HTTPAnswer, origin: String?, channel: any NIOCore.Channel,
        isMultiplexed: Bool
    ) -> Response {
        var response = Response(answer, toPageOf: origin, partsOn: service.executor)
        // HTTP/2 has no such field, and the channel belongs to a single stream.
        if !isMultiplexed { response.headers[.connection] = "close" }
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(mode: .all, promise: nil) }
        return response
    }

    /// - Throws: An error if the body is too large, ends early, or exceeds the budget of all
    ///   bodies.
    private func body(
        of request: Hummingbird.Request, head: RESTRequest, share: BodyBudget.Share,
        channel: any NIOCore.Channel
    ) async throws(RPCStatus) -> [UInt8] {
        let limit =
            ChannelHub.isHandshake(head) ? ChannelHub.maxHandshakeBytes : maxBodyBytes
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

    /// The first path segments of requests from tools. Users of an app do not send them.
    private static let administrators: Set<String> = ["emulator", "tidemark", "_admin"]

    private static func isForAdministrators(_ page: PageRequest) -> Bool {
        page.path.first.map(administrators.contains) ?? false
    }

    /// Checks that the caller is an administrator, if callers are identified: tools act on the
    /// whole server.
    private func checkAdministrator(_ request: RESTRequest) async throws(RPCStatus) {
        guard let access else { return }
        let caller = try await access.caller(
            HTTPService.token(request.headers), method: request.path)
        if caller.userID != nil {
            throw RPCStatus(.permissionDenied, "Only an administrator may do this.")
        }
    }

    /// Returns the answer of an endpoint; nil if there is none at the path.
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
                // Pages have the same security policy as on the control port.
                found.headers["content-security-policy"] = Response.contentSecurityPolicy
                return found
            }
        }
        return nil
    }

    private func answer(
        _ request: RESTRequest, original: Hummingbird.Request, admission: RESTAdmission
    ) async -> HTTPAnswer {
        let isREST = RESTRoute.isCall(request.path)
        // A request without a body needs no reading, and the service itself decides which calls
        // take longer. A body can be large, and the requests of tools can read and write whole
        // files, so both run away from the connection's event loop.
        if isREST, request.body.isEmpty { return await service.answer(request) }
        return await withTaskExecutorPreference(service.executor) {
            if !isREST, let answer = await endpoint(request, original) { return answer }
            if let answer = await channels.answer(request) { return answer }
            return await service.answer(request, admission)
        }
    }

    private func answer(
        _ request: RESTRequest, original: Hummingbird.Request, admission: RESTAdmission,
        channel: any NIOCore.Channel
    ) async -> HTTPAnswer {
        if ["GET", "HEAD"].contains(request.method), request.path == "/" {
            return HTTPAnswer(contentType: "text/plain", body: .data(Data("Ok\n".utf8)))
        }
        let answer = await answer(request, original: original, admission: admission)
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
