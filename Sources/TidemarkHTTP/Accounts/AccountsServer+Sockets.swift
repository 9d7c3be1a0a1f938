import Foundation
import Hummingbird
import Logging
import NIOCore
import TidemarkModel
import TidemarkServer

extension AccountsServer {
    /// How many ports are tried when any will do.
    private static let maxAttempts = 8

    /// Serves until the task is cancelled. `ready` is told the port once requests are accepted.
    ///
    /// - Parameters:
    ///   - host: Without encryption: beyond this machine, something that adds it belongs in front.
    ///   - port: 0 for a free one.
    /// - Throws: ``ControlServerError`` when it cannot listen at that address.
    public func run(
        host: String, port: Int, ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        var last = ControlServerError(message: "There is no free port on \(host).")
        for _ in 0..<(port == 0 ? Self.maxAttempts : 1) {
            guard let chosen = port == 0 ? FreePort.find() : port else { break }
            do { return try await serve(host, chosen, ready) } catch is CancellationError {
                return
            } catch {
                last = ControlServerError(message: "Cannot listen on \(host):\(chosen): \(error)")
            }
        }
        throw last
    }

    private func serve(
        _ host: String, _ port: Int, _ ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        var logger = Logger(label: "tidemark.accounts")
        // Bodies and paths have credentials in them: nothing of a request is ever logged.
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<AccountsContext> { [self] request, context in
                await respond(request, context)
            },
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { _ in ready(port) }, logger: logger)
        try await application.run()
    }

    private func respond(_ request: Request, _ context: AccountsContext) async -> Response {
        if request.method == .options { return preflight(request) }
        var asked = AccountsRequest()
        asked.method = request.method.rawValue
        asked.path = request.uri.path
        for (name, value) in request.uri.queryParameters {
            asked.query[String(name)] = String(value)
        }
        let type = request.headers[.contentType] ?? ""
        asked.isForm = type.hasPrefix("application/x-www-form-urlencoded")
        asked.authorization = request.headers[.authorization]
        asked.apiKey =
            asked.query["key"]
            ?? request.headers.first { $0.name.canonicalName == "x-goog-api-key" }?.value
        asked.address = context.address
        asked.origin = "http://" + (request.head.authority ?? "127.0.0.1")
        let body = request.body
        let answer = await answer(asked) { limit in
            guard let bytes = try? await body.collect(upTo: limit) else { return nil }
            return bytes.withUnsafeReadableBytes { Data($0) }
        }
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8"]
        headers[.accessControlAllowOrigin] = "*"
        headers[.cacheControl] = answer.maxAge.map { "public, max-age=\($0)" } ?? "no-store"
        return Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: AccountsJSON.data(answer.body))))
    }

    private func preflight(_ request: Request) -> Response {
        var headers: HTTPFields = [.accessControlAllowOrigin: "*"]
        headers[.accessControlAllowMethods] = "GET, POST, PATCH, DELETE, OPTIONS"
        headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders] ?? "*"
        headers[.accessControlMaxAge] = "3600"
        return Response(status: .noContent, headers: headers)
    }
}

/// A request's context that knows where it came from.
struct AccountsContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Without the port: all connections of one machine count together.
    let address: String

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? ""
    }
}
