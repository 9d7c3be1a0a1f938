import Foundation
import Hummingbird
import Logging
import NIOCore
import TidemarkModel
import TidemarkServer
import TidemarkWire

extension AccountsServer {
    /// How many ports are tried when any will do.
    private static let maxAttempts = 8
    /// Connections where nothing else is said.
    public static let maxConnections = 2_000

    /// Serves until the task is cancelled. `ready` is told the port once requests are accepted.
    ///
    /// A request's head arrives in 30 s and its body in 60 s, or the connection is closed; so is one that
    /// asks for nothing in 2 minutes.
    ///
    /// - Parameters:
    ///   - host: Without encryption: beyond this machine, something that adds it belongs in front.
    ///   - port: 0 for a free one.
    ///   - web: Which names and pages may call; nil for loopback's and `host`.
    ///   - maxConnections: How many may be open; one more is closed as it comes.
    /// - Throws: ``ControlServerError`` when it cannot listen at that address.
    public func run(
        host: String, port: Int, web: WebPolicy? = nil,
        maxConnections: Int = AccountsServer.maxConnections,
        ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        let web = web ?? WebPolicy(listeningOn: host)
        let connections = ConnectionLimit(most: maxConnections)
        var last = ControlServerError(message: "There is no free port on \(host).")
        for _ in 0..<(port == 0 ? Self.maxAttempts : 1) {
            guard let chosen = port == 0 ? FreePort.find() : port else { break }
            do {
                return try await serve(host, chosen, web, connections, ready)
            } catch is CancellationError {
                return
            } catch {
                last = ControlServerError(message: "Cannot listen on \(host):\(chosen): \(error)")
            }
        }
        throw last
    }

    private func serve(
        _ host: String, _ port: Int, _ web: WebPolicy, _ connections: ConnectionLimit,
        _ ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        var logger = Logger(label: "tidemark.accounts")
        // Bodies and paths have credentials in them: nothing of a request is ever logged.
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { [self] request, context in
                await respond(request, context, web)
            },
            server: PatientConnections.server(RequestPatience()),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { listener in
                try? await ListenerGuard.add(to: listener, connections).get()
                ready(port)
            }, logger: logger)
        try await application.run()
    }

    private func respond(
        _ request: Request, _ context: ConnectionContext, _ web: WebPolicy
    ) async -> Response {
        var asked = AccountsRequest(request, from: context.address)
        let own = context.channel.localAddress
        asked.origin = web.ownOrigin(address: own?.ipAddress, port: own?.port ?? 80)
        let isToken = AccountsRoute(asked)?.isToken ?? false
        switch web.verdict(on: WebCall(request, isFormExpected: isToken)) {
        case .preflight(let origin): return .preflight(request, origin: origin)
        case .refused(let refusal):
            let code = refusal.status == 403 ? "PERMISSION_DENIED" : "INVALID_ARGUMENT"
            let error = AccountRefusal("\(code) : \(refusal.message)", status: refusal.status)
            return response(Self.failure(error, isToken: isToken), toPageOf: nil)
        case .allowed(let origin):
            let body = request.body
            let answer = await answer(asked) { limit in
                // Most callers have no token yet: what they hold takes no room from those that have.
                let share = bodies.share()
                let bytes = try? await body.collected(
                    upTo: limit, share, on: context.channel, within: RequestPatience().body)
                return bytes.map { Data($0) }
            }
            return response(answer, toPageOf: origin)
        }
    }

    private func response(_ answer: AccountsAnswer, toPageOf origin: String?) -> Response {
        var headers = HTTPFields.answer(toPageOf: origin)
        headers[.contentType] = "application/json; charset=utf-8"
        headers[.cacheControl] = answer.maxAge.map { "public, max-age=\($0)" } ?? "no-store"
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: AccountsJSON.data(answer.body))))
    }
}

extension AccountsRequest {
    init(_ request: Request, from address: String) {
        method = request.method.rawValue
        path = request.uri.path
        for (name, value) in request.uri.queryParameters { query[String(name)] = String(value) }
        let type = request.headers[.contentType] ?? ""
        isForm = type.hasPrefix("application/x-www-form-urlencoded")
        authorization = request.headers[.authorization]
        apiKey = query["key"] ?? request.headers.values(named: "x-goog-api-key").first
        self.address = address
    }
}
