import Foundation
import Hummingbird
import NIOCore
import TidemarkModel
import TidemarkServer
import TidemarkWire

/// Routes the requests of the control endpoint and answers them.
struct ControlRoutes: Sendable {
    private let server: FirestoreServer
    private let faults: FaultBoard?
    private let access: AccessToken?
    private let web: WebPolicy
    /// Answers requests about security rules.
    private let rules: (any WebPages)?
    private let pages: (any WebPages)?
    private var emulator: EmulatorEndpoints { EmulatorEndpoints(server) }
    private let sessions = PageSessions()
    private let thread = PageThread()
    private let guesses = GuessLimit()

    init(
        _ server: FirestoreServer, faults: FaultBoard?, access: AccessToken?,
        web: WebPolicy, rules: (any WebPages)?, pages: (any WebPages)?
    ) {
        self.server = server
        self.faults = faults
        self.access = access
        self.web = web
        self.rules = rules
        self.pages = pages
    }

    func respond(to request: Request, _ context: ConnectionContext) async -> Response {
        switch web.verdict(on: WebCall(request, isFormExpected: Self.isLogin(request))) {
        case .refused(let refusal):
            var refused = response(.init(code: refusal.status), ["error": refusal.message])
            refused.headers.append(contentsOf: HTTPFields.answer(toPageOf: nil))
            return refused
        case .preflight(let origin): return .preflight(request, origin: origin)
        case .allowed(let origin):
            var answered = await withTaskExecutorPreference(thread) {
                await answerOrError(request, context)
            }
            answered.headers.append(contentsOf: HTTPFields.answer(toPageOf: origin))
            return answered
        }
    }

    private func answerOrError(_ request: Request, _ context: ConnectionContext) async -> Response {
        do throws(Refusal) { return try await answer(request, context) } catch {
            return response(error.status, ["error": error.message])
        }
    }

    private func answer(
        _ request: Request, _ context: ConnectionContext
    ) async throws(Refusal) -> Response {
        if let access, !sessions.knows(request.headers.values(named: "cookie")),
            !(try matches(request, access: access, context: context))
        {
            if let answer = try await login(request, access: access, context: context) {
                return answer
            }
            throw Refusal(
                .unauthorized, "This server needs its token: \"authorization: Bearer TOKEN\".")
        }
        let path = request.uri.path
        switch (request.method, path) {
        case (.get, "/") where pages == nil || !request.isOfBrowser:
            return response(.ok, ["status": "alive"])
        case (.get, "/tidemark/v1/meter"): return try meter(request)
        case (.delete, "/tidemark/v1/meter"):
            server.resetMeter()
            return response(.ok, ["status": "reset"])
        case (.put, "/tidemark/v1/label"): return try await setLabel(request, context)
        case (.delete, "/tidemark/v1/label"):
            server.setLabel(nil)
            return response(.ok, ["status": "removed"])
        case (.get, "/tidemark/v1/indexes"): return response(.ok, server.indexReport())
        case (.post, "/tidemark/v1/clock"): return try await setClock(request, context)
        case (.get, "/tidemark/v1/faults"): return response(.ok, try board().state)
        case (.put, "/tidemark/v1/faults"): return try await orderFaults(request, context)
        case (.delete, "/tidemark/v1/faults"):
            try await board().order(network: .healthy, rules: [])
            return response(.ok, try board().state)
        default:
            if let answer = await emulator.answer(PageRequest(request, body: [])) {
                return Response(answer)
            }
            if RulesEndpoint.isPath(path), let answer = try await page(request, of: rules, context)
            {
                return answer
            }
            if let page = try await page(request, of: pages, context) { return page }
            let known = [
                "/", "/tidemark/v1/meter", "/tidemark/v1/indexes", "/tidemark/v1/clock",
                "/tidemark/v1/faults", "/tidemark/v1/label",
            ]
            let names = PageRequest(request, body: []).path
            if known.contains(path) || EmulatorEndpoints.database(clearedAt: names) != nil {
                throw Refusal(
                    .methodNotAllowed, "\(path) does not support the method \(request.method).")
            }
            throw Refusal(.notFound, "There is nothing at \(path).")
        }
    }

    private static func isLogin(_ request: Request) -> Bool { request.uri.path == "/login" }

    /// Answers a browser that has not yet shown the token: returns the login page or its assets, or
    /// redirects to the login page.
    ///
    /// - Returns: The answer; nil if the request itself needs the token.
    private func login(
        _ request: Request, access: AccessToken, context: ConnectionContext
    ) async throws(Refusal) -> Response? {
        if pages == nil { return nil }
        if request.method == .post, Self.isLogin(request) {
            let data = try await body(of: request, context, upTo: 2 * AccessToken.maxBytes)
            let form = AccountsJSON.form(String(decoding: data, as: UTF8.self)) ?? [:]
            guard guesses.take(context.address) else { throw Self.tooManyGuesses }
            guard access.matches(form["token"]) else { return Self.redirect("/login?wrong=1") }
            guesses.giveBack(context.address)
            var answer = Self.redirect("/")
            answer.headers[.setCookie] = sessions.begin()
            return answer
        }
        guard request.method == .get else { return nil }
        if Self.isLogin(request) || request.uri.path.hasPrefix("/assets/") {
            return try await page(request, of: pages, context)
        }
        return request.isOfBrowser ? Self.redirect("/login") : nil
    }

    /// Returns true if the request's bearer token is the server's token.
    ///
    /// - Throws: ``Refusal`` if the address has sent too many wrong tokens.
    private func matches(
        _ request: Request, access: AccessToken, context: ConnectionContext
    ) throws(Refusal) -> Bool {
        guard let header = request.headers[.authorization] else { return false }
        if GuessLimit.isLoopback(context.address) { return access.matches(authorization: header) }
        guard guesses.take(context.address) else { throw Self.tooManyGuesses }
        guard access.matches(authorization: header) else { return false }
        guesses.giveBack(context.address)
        return true
    }

    private static let tooManyGuesses = Refusal(
        .tooManyRequests, "Too many wrong tokens came from this address. Wait a minute.")

    private static func redirect(_ address: String) -> Response {
        Response(status: .seeOther, headers: [.location: address, .cacheControl: "no-store"])
    }

    /// - Returns: The page; nil if there are no pages, or no page at this path.
    private func page(
        _ request: Request, of pages: (any WebPages)?, _ context: ConnectionContext
    ) async throws(Refusal) -> Response? {
        guard let pages else { return nil }
        var bytes: [UInt8] = []
        if request.method != .get {
            bytes = Array(try await body(of: request, context, upTo: PageRequest.maxBodyBytes))
        }
        guard let answer = await pages.answer(PageRequest(request, body: bytes)) else {
            return nil
        }
        if let version = answer.version, request.headers[.ifNoneMatch] == "\"\(version)\"" {
            return Response(status: .notModified, headers: [.eTag: "\"\(version)\""])
        }
        return Response(answer)
    }

    private func response(_ status: HTTPResponse.Status, _ body: some Encodable) -> Response {
        // JSON can represent all texts and numbers.
        let data = (try? JSONEncoder().encode(body)) ?? Data()
        return Response(
            status: status,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }

    private func body(
        of request: Request, _ context: ConnectionContext, upTo limit: Int
    ) async throws(Refusal) -> Data {
        do throws(BodyRefusal) {
            let share = BodyBudget.process.share()
            let body = try await request.body.collected(
                upTo: limit, share, on: context.channel, within: RequestPatience().body)
            return Data(body)
        } catch {
            switch error {
            case .tooLarge:
                throw Refusal(.contentTooLarge, "The body is larger than \(limit) bytes.")
            case .cutOff: throw Refusal(.badRequest, "The body ends early.")
            case .noRoom: throw Refusal(.serviceUnavailable, RPCStatus.bodiesHeld.message)
            }
        }
    }
}

// MARK: - The routes

extension ControlRoutes {
    /// Returns the reads by label, with each label's reads by RPC. The parameter `by` selects other
    /// dimensions.
    private func meter(_ request: Request) throws(Refusal) -> Response {
        guard let by = request.uri.queryParameters["by"] else {
            return response(.ok, server.meter())
        }
        var dimensions: Set<MeterDimension> = []
        for name in by.split(separator: ",") {
            guard let dimension = MeterDimension(rawValue: String(name)) else {
                let names = MeterDimension.allCases.map(\.rawValue).joined(separator: ", ")
                throw Refusal(
                    .badRequest, "The meter can group rows by \(names), as in by=label.")
            }
            dimensions.insert(dimension)
        }
        return response(.ok, server.meter(by: dimensions))
    }

    private func setLabel(
        _ request: Request, _ context: ConnectionContext
    ) async throws(Refusal) -> Response {
        let data = try await body(of: request, context, upTo: ControlServer.maxBodyBytes)
        let label = try? JSONDecoder().decode([String: String].self, from: data)["label"]
        guard let label, !label.isEmpty else {
            throw Refusal(.badRequest, "The body must be {\"label\": TEXT}.")
        }
        server.setLabel(label)
        return response(.ok, ["status": "set"])
    }

    private func setClock(
        _ request: Request, _ context: ConnectionContext
    ) async throws(Refusal) -> Response {
        let data = try await body(of: request, context, upTo: ControlServer.maxBodyBytes)
        let time = try ClockRequest.time(in: data)
        do throws(RPCStatus) { try server.setClock(time) } catch {
            throw Refusal(.conflict, error.message)
        }
        return response(.ok, ["status": "set"])
    }

    private func board() throws(Refusal) -> FaultBoard {
        guard let faults else { throw Refusal(.notFound, "This server cannot simulate faults.") }
        return faults
    }

    private func orderFaults(
        _ request: Request, _ context: ConnectionContext
    ) async throws(Refusal) -> Response {
        let data = try await body(of: request, context, upTo: ControlServer.maxFaultBytes)
        guard let order = try? JSONDecoder().decode(FaultOrder.self, from: data) else {
            throw Refusal(
                .badRequest,
                """
                The body must be {"network": NAME, "rules": [RULE, …]}; either may be missing, and a \
                rule is a text as --fault takes it or an object with the same keys.
                """)
        }
        let parsed = try order.parsed()
        try await board().order(network: parsed.network, rules: parsed.rules)
        return response(.ok, try board().state)
    }
}

extension Request {
    /// True if the client expects a page. Programs expect JSON.
    fileprivate var isOfBrowser: Bool { headers[.accept]?.contains("text/html") ?? false }
}

/// An HTTP status and a sentence.
struct Refusal: Error {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }
}
