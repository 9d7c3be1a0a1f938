import Foundation
import TidemarkModel
import TidemarkServer

/// The answer to a request.
struct AccountsAnswer: Sendable {
    var status = 200
    var body: [String: JSONTree] = [:]
    /// The time, in seconds, for which a client may store the answer; nil if it may not.
    var maxAge: Int?
}

extension AccountsServer {
    /// The maximum size of a body, in bytes, by route. An import has up to a thousand accounts.
    static func maxBodyBytes(_ route: AccountsRoute) -> Int {
        switch route {
        case .call(.batchCreate, _, _): 8 << 20
        case .call(.batchDelete, _, _): 1 << 20
        default: 128 << 10
        }
    }

    /// - Parameter body: Reads the body up to a limit in bytes. Returns nil if the body is longer.
    func answer(
        _ request: AccountsRequest, body: (_ limit: Int) async -> Data?
    ) async -> AccountsAnswer {
        guard let route = AccountsRoute(request) else {
            return Self.failure(AccountRefusal("NOT_FOUND", status: 404), isToken: false)
        }
        do throws(AccountRefusal) {
            return try await answer(route, request: request, body: body)
        } catch { return Self.failure(error, isToken: route.isToken) }
    }

    private func answer(
        _ route: AccountsRoute, request: AccountsRequest, body: (_ limit: Int) async -> Data?
    ) async throws(AccountRefusal) -> AccountsAnswer {
        switch route {
        case .alive:
            return AccountsAnswer(
                body: ["authEmulator": .object(["ready": .bool(true)])])
        case .wrongMethod:
            throw AccountRefusal("METHOD_NOT_ALLOWED : \(request.method)", status: 405)
        case .keys:
            return AccountsAnswer(
                body: ["keys": .list(desk.published.map { .object($0) })], maxAge: 3_600)
        case .discovery: return AccountsAnswer(body: discovery(request), maxAge: 3_600)
        case .project:
            return AccountsAnswer(body: [
                "projectId": .text(settings.project),
                "authorizedDomains": .list([.text("localhost"), .text("127.0.0.1")]),
            ])
        case .recaptcha:
            // This server never requires this proof. The texts say that, for readers who find them
            // elsewhere.
            return AccountsAnswer(body: [
                "kind": .text("identitytoolkit#GetRecaptchaParamResponse"),
                "recaptchaSiteKey": .text("no-recaptcha-on-a-development-server"),
                "recaptchaStoken": .text("no-recaptcha-on-a-development-server"),
            ])
        case .call(let method, let project, let extra):
            let isAdmin = try isAdministrator(request, route)
            // The check is before the body is read, because the body of an import is large.
            if method.isForAdmins, !isAdmin { throw .insufficientPermission }
            guard let data = await body(Self.maxBodyBytes(route)) else {
                throw AccountRefusal("PAYLOAD_TOO_LARGE", status: 413)
            }
            let project = project ?? settings.project
            guard AccountsSettings.isProject(project) else {
                throw AccountRefusal("INVALID_PROJECT_ID")
            }
            let fields = AccountFields(try fields(request, data: data, extra: extra))
            var call = AccountCall(
                method, project: project, tenant: try fields.tenant(), fields: fields)
            call.isAdmin = isAdmin
            call.address = request.address
            call.origin = request.origin
            call.userAgent = request.userAgent
            return AccountsAnswer(body: try await perform(call))
        }
    }

    private func fields(
        _ request: AccountsRequest, data: Data, extra: [String: JSONTree]
    ) throws(AccountRefusal) -> [String: JSONTree] {
        var fields: [String: JSONTree] = [:]
        // Some libraries send each body without a content type as a form.
        if request.isForm, data.first != UInt8(ascii: "{") {
            guard let form = AccountsJSON.form(String(decoding: data, as: UTF8.self)) else {
                throw AccountRefusal("INVALID_ARGUMENT : The form cannot be read.")
            }
            fields = form.mapValues { .text($0) }
        } else if !data.isEmpty {
            guard let object = AccountsJSON.object(data) else {
                throw AccountRefusal("INVALID_ARGUMENT : The body is not a JSON object.")
            }
            fields = object
        }
        let names = [
            "maxResults", "nextPageToken", "fields", "pageSize", "pageToken", "updateMask",
            "tenantId",
            "oauthIdpConfigId", "inboundSamlConfigId",
        ]
        for name in names where request.query[name] != nil {
            fields[name] = request.query[name].map { .text($0) }
        }
        for name in fields.keys where name.hasPrefix("_") { fields[name] = nil }
        return fields.merging(extra) { $1 }
    }

    /// - Throws: ``AccountRefusal`` for an unknown bearer token, and for a request without a token
    ///   and an API key.
    private func isAdministrator(
        _ request: AccountsRequest, _ route: AccountsRoute
    ) throws(AccountRefusal) -> Bool {
        if let header = request.authorization {
            let isCounted = !GuessLimit.isLoopback(request.address)
            if isCounted, !guesses.take(request.address) {
                throw AccountRefusal("TOO_MANY_ATTEMPTS_TRY_LATER", status: 429)
            }
            let isOwner = header == "Bearer owner" || header.hasPrefix("Bearer ya29.")
            if access?.matches(authorization: header) == true
                || (settings.mode == .emulator && isOwner)
            {
                if isCounted { guesses.giveBack(request.address) }
                return true
            }
            throw AccountRefusal("UNAUTHENTICATED : The bearer token is not known.", status: 401)
        }
        if route.isTools, settings.mode == .emulator { return true }
        let isLink = request.path.hasSuffix("/emulator/action")
        if isLink { return false }
        if request.apiKey?.isEmpty == false {
            guard let bundleID = settings.iosBundleID, request.bundleID != bundleID else {
                return false
            }
            throw AccountRefusal.appBlocked(request.bundleID)
        }
        throw AccountRefusal(
            "PERMISSION_DENIED : The request is missing a valid API key.", status: 403)
    }

    private func discovery(_ request: AccountsRequest) -> [String: JSONTree] {
        [
            "issuer": .text(TokenFacts.issuer + settings.project),
            "jwks_uri": .text(request.origin + "/.well-known/jwks.json"),
            "id_token_signing_alg_values_supported": .list([.text("ES256")]),
            "subject_types_supported": .list([.text("public")]),
            "response_types_supported": .list([.text("id_token")]),
        ]
    }

    /// Returns an error in one of production's two forms. Source: server-production-facts 10.
    static func failure(_ refusal: AccountRefusal, isToken: Bool) -> AccountsAnswer {
        var error: [String: JSONTree] = [
            "code": .integer(Int64(refusal.status)), "message": .text(refusal.message),
        ]
        if let reason = refusal.reason {
            error["status"] = .text("PERMISSION_DENIED")
            error["details"] = .list([
                .object([
                    "@type": .text("type.googleapis.com/google.rpc.ErrorInfo"),
                    "reason": .text(reason), "domain": .text("googleapis.com"),
                ])
            ])
        } else if isToken {
            error["status"] = .text("INVALID_ARGUMENT")
        } else {
            error["errors"] = .list([
                .object([
                    "message": .text(refusal.message), "domain": .text("global"),
                    "reason": .text("invalid"),
                ])
            ])
        }
        return AccountsAnswer(status: refusal.status, body: ["error": .object(error)])
    }
}
