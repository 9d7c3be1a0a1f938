import Foundation
import Hummingbird
import NIOCore
import TidemarkModel
import TidemarkServer
import TidemarkWire

extension AccountsServer {
    /// The default limit of open connections.
    public static let maxConnections = 2_000

    /// Serves until the task is cancelled. Calls `ready` with the port when requests are accepted.
    ///
    /// A request's head must arrive in 30 s and its body in 60 s, and a connection can be idle for
    /// 2 minutes. Otherwise, the connection is closed.
    ///
    /// - Parameters:
    ///   - host: The address to listen on. The server does not encrypt: if clients on other
    ///     machines use it, put a proxy with TLS in front.
    ///   - port: The port; 0 for a free port.
    ///   - web: The host names and pages that may call; nil allows those of loopback and of `host`.
    ///   - maxConnections: The maximum number of open connections. A further connection is closed
    ///     immediately.
    /// - Throws: ``ControlServerError`` if the server cannot listen at the address.
    public func run(
        host: String, port: Int, web: WebPolicy? = nil,
        maxConnections: Int = AccountsServer.maxConnections,
        ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        let web = web ?? WebPolicy(listeningOn: host)
        let listener = PlainListener(host: host, port: port, maxConnections: maxConnections)
        try await listener.run(label: "tidemark.accounts", ready: ready) {
            [self] request, context in
            await respond(request, context: context, web: web)
        }
    }

    private func respond(
        _ request: Request, context: ConnectionContext, web: WebPolicy
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
                // Most callers have no token yet. Their bodies have a separate budget, and take no
                // room from other callers.
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
        bundleID = request.headers.values(named: "x-ios-bundle-identifier").first
        userAgent = String((request.headers[.userAgent] ?? "").prefix(1_024))
        self.address = address
    }
}
