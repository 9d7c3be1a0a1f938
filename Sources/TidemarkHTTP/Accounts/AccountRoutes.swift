import Foundation
import TidemarkServer

/// A request to the accounts server, without the other parts of HTTP.
struct AccountsRequest: Sendable {
    var method = "POST"
    /// The path with its escapes, as it was sent.
    var path = ""
    var query: [String: String] = [:]
    var isForm = false
    /// The value of the header `Authorization`.
    var authorization: String?
    var apiKey: String?
    /// The bundle identifier of the calling iOS app; nil if the call has none.
    var bundleID: String?
    var address = ""
    var userAgent = ""
    /// The origin for links to this server. It never contains a name from the request.
    var origin = ""
}

/// The purpose of a request, from its path and method.
enum AccountsRoute: Equatable {
    case call(AccountMethod, project: String?, extra: [String: JSONTree])
    case alive
    case project
    /// The parameters with which a page loads reCAPTCHA.
    case recaptcha
    case keys
    case discovery
    /// The path exists, but the method does not.
    case wrongMethod

    /// True if errors have the form of securetoken's errors. Source: server-production-facts 10.
    var isToken: Bool { if case .call(.refresh, _, _) = self { true } else { false } }
    /// True if the tools of an emulator call this route without credentials.
    var isTools: Bool {
        switch self {
        case .call(.clearAccounts, _, _), .call(.getConfig, _, _), .call(.updateConfig, _, _),
            .call(.listOobCodes, _, _), .call(.listVerificationCodes, _, _):
            true
        default: false
        }
    }

    /// Returns nil if there is no such path.
    init?(_ request: AccountsRequest) {
        guard var parts = Self.parts(request.path) else { return nil }
        if ["identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com"]
            .contains(parts.first)
        {
            parts.removeFirst()
        }
        switch parts.first {
        case nil: self = .alive
        case "v1": self.init(versionOne: Array(parts.dropFirst()), request.method)
        case "v2": self.init(versionTwo: Array(parts.dropFirst()), request.method)
        case "identitytoolkit":
            guard parts.count == 4, parts[1] == "v3", parts[2] == "relyingparty" else { return nil }
            self.init(legacy: parts[3], request.method)
        case "emulator": self.init(tools: Array(parts.dropFirst()), request)
        case ".well-known":
            switch parts.last {
            case "jwks.json" where parts.count == 2: self = .keys
            case "openid-configuration" where parts.count == 2: self = .discovery
            default: return nil
            }
        case "service_accounts", "robot":
            guard parts.contains("jwk"),
                parts.last == "securetoken@system.gserviceaccount.com"
            else { return nil }
            self = .keys
        default: return nil
        }
    }

    /// Splits the path and unescapes each part. An escaped slash thus belongs to a name. Returns
    /// nil if no path of this server can have these parts.
    private static func parts(_ path: String) -> [String]? {
        guard path.utf8.count <= 2_048, path.hasPrefix("/") else { return nil }
        var parts: [String] = []
        for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let plain = String(part).removingPercentEncoding,
                plain != ".", plain != "..", !plain.unicodeScalars.contains("\0")
            else { return nil }
            parts.append(plain)
        }
        if parts.last == "" { parts.removeLast() }
        return parts
    }

    private static func posted(_ route: AccountsRoute, _ method: String) -> AccountsRoute {
        method == "POST" ? route : .wrongMethod
    }
}

// MARK: - Version 1

extension AccountsRoute {
    private static let actions: [String: AccountMethod] = [
        "signUp": .signUp, "signInWithPassword": .signInWithPassword,
        "signInWithCustomToken": .signInWithCustomToken, "signInWithIdp": .signInWithIdp,
        "signInWithEmailLink": .signInWithEmailLink, "lookup": .lookup, "update": .update,
        "delete": .delete, "sendOobCode": .sendOobCode, "resetPassword": .resetPassword,
        "sendVerificationCode": .sendVerificationCode,
        "signInWithPhoneNumber": .signInWithPhoneNumber,
        "createAuthUri": .createAuthUri, "batchGet": .batchGet, "batchCreate": .batchCreate,
        "batchDelete": .batchDelete, "query": .query,
    ]

    private static let legacy: [String: AccountMethod] = [
        "signupNewUser": .signUp, "verifyPassword": .signInWithPassword,
        "verifyCustomToken": .signInWithCustomToken, "verifyAssertion": .signInWithIdp,
        "emailLinkSignin": .signInWithEmailLink, "getAccountInfo": .lookup,
        "setAccountInfo": .update, "deleteAccount": .delete,
        "getOobConfirmationCode": .sendOobCode, "resetPassword": .resetPassword,
        "createAuthUri": .createAuthUri, "sendVerificationCode": .sendVerificationCode,
        "verifyPhoneNumber": .signInWithPhoneNumber,
    ]

    /// Parses the old method names, which the clients on phones use.
    private init?(legacy name: String, _ method: String) {
        switch name {
        case "getProjectConfig": self = method == "GET" ? .project : .wrongMethod
        case "getRecaptchaParam": self = method == "GET" ? .recaptcha : .wrongMethod
        default:
            guard let action = Self.legacy[name] else { return nil }
            self = Self.posted(.call(action, project: nil, extra: [:]), method)
        }
    }

    private init?(versionOne parts: [String], _ method: String) {
        var parts = parts
        var project: String?
        if parts == ["token"] {
            self = Self.posted(.call(.refresh, project: nil, extra: [:]), method)
            return
        }
        if parts == ["projects"] || parts == ["recaptchaParams"] {
            let route: AccountsRoute = parts == ["projects"] ? .project : .recaptcha
            self = method == "GET" ? route : .wrongMethod
            return
        }
        if parts.first == "projects", parts.count >= 2 {
            if parts.count == 2, let end = parts[1].range(of: ":createSessionCookie"),
                end.upperBound == parts[1].endIndex
            {
                let name = String(parts[1][..<end.lowerBound])
                self = Self.posted(
                    .call(.createSessionCookie, project: name, extra: [:]), method)
                return
            }
            project = parts[1]
            parts.removeFirst(2)
        }
        let extra = Self.tenant(takenFrom: &parts, isInProject: project != nil)
        guard parts.count == 1 else { return nil }
        if parts[0] == "accounts" {
            let action: AccountMethod = project == nil ? .signUp : .create
            self = Self.posted(.call(action, project: project, extra: extra), method)
            return
        }
        let words = parts[0].split(separator: ":", maxSplits: 1).map(String.init)
        guard words.count == 2, words[0] == "accounts", let action = Self.actions[words[1]] else {
            return nil
        }
        let route = AccountsRoute.call(action, project: project, extra: extra)
        if action == .batchGet {
            self = method == "GET" ? route : .wrongMethod
        } else {
            self = Self.posted(route, method)
        }
    }
}

// MARK: - Tenants, providers and tools

extension AccountsRoute {
    private static let factors: [String: AccountMethod] = [
        "mfaEnrollment:start": .beginFactorEnrolment,
        "mfaEnrollment:finalize": .finishFactorEnrolment,
        "mfaEnrollment:withdraw": .withdrawFactor, "mfaSignIn:start": .beginFactorSignIn,
        "mfaSignIn:finalize": .finishFactorSignIn,
    ]

    private init?(versionTwo parts: [String], _ method: String) {
        if parts == ["accounts:revokeToken"] {
            self = Self.posted(.call(.revokeToken, project: nil, extra: [:]), method)
            return
        }
        if parts.count == 2, parts[0] == "accounts" {
            guard let action = Self.factors[parts[1]] else { return nil }
            self = Self.posted(.call(action, project: nil, extra: [:]), method)
            return
        }
        if parts.count == 3, parts[0] == "projects", parts[2] == "config" {
            let action: AccountMethod? =
                switch method {
                case "GET": .getConfig
                case "PATCH": .updateConfig
                default: nil
                }
            self = action.map { .call($0, project: parts[1], extra: [:]) } ?? .wrongMethod
            return
        }
        guard (3...6).contains(parts.count), parts[0] == "projects" else { return nil }
        let project = parts[1]
        var parts = Array(parts.dropFirst(2))
        var extra: [String: JSONTree] = [:]
        if parts.count > 2 { extra = Self.tenant(takenFrom: &parts, isInProject: true) }
        guard let kind = parts.first, parts.count <= 2,
            ["oauthIdpConfigs", "inboundSamlConfigs"].contains(kind)
                || kind == "tenants" && extra.isEmpty
        else { return nil }
        extra["_kind"] = .text(kind)
        if parts.count == 2 { extra["_id"] = .text(parts[1]) }
        let isTenants = kind == "tenants"
        let action: AccountMethod? =
            switch (method, parts.count) {
            case ("POST", 1): isTenants ? .createTenant : .createProvider
            case ("GET", 1): isTenants ? .listTenants : .listProviders
            case ("GET", 2): isTenants ? .getTenant : .getProvider
            case ("PATCH", 2): isTenants ? .updateTenant : .updateProvider
            case ("DELETE", 2): isTenants ? .deleteTenant : .deleteProvider
            default: nil
            }
        self = action.map { .call($0, project: project, extra: extra) } ?? .wrongMethod
    }

    /// Removes `tenants/ID` from the beginning of a path's rest, and returns the tenant as a field.
    private static func tenant(
        takenFrom parts: inout [String], isInProject: Bool
    ) -> [String: JSONTree] {
        guard isInProject, parts.count >= 2, parts[0] == "tenants" else { return [:] }
        defer { parts.removeFirst(2) }
        return ["_tenant": .text(parts[1])]
    }

    private init?(tools parts: [String], _ request: AccountsRequest) {
        if parts == ["action"] {
            self.init(linkOf: request)
            return
        }
        guard parts.count >= 4, parts[0] == "v1", parts[1] == "projects" else { return nil }
        let project = parts[2]
        var parts = Array(parts.dropFirst(3))
        let extra = Self.tenant(takenFrom: &parts, isInProject: true)
        guard parts.count == 1 else { return nil }
        let action: AccountMethod? =
            switch (request.method, parts[0]) {
            case ("DELETE", "accounts"): .clearAccounts
            case ("GET", "config"): .getConfig
            case ("PATCH", "config"): .updateConfig
            case ("GET", "oobCodes"): .listOobCodes
            case ("GET", "verificationCodes"): .listVerificationCodes
            default: nil
            }
        if let action {
            self = .call(action, project: project, extra: extra)
            return
        }
        let known = ["accounts", "config", "oobCodes", "verificationCodes"]
        guard known.contains(parts[0]) else { return nil }
        self = .wrongMethod
    }

    /// Parses the links in mails.
    private init?(linkOf request: AccountsRequest) {
        let code = JSONTree.text(request.query["oobCode"] ?? "")
        var extra = ["oobCode": code]
        switch request.query["mode"] {
        case "verifyEmail", "verifyAndChangeEmail":
            self = .call(.update, project: nil, extra: extra)
        case "resetPassword", "signIn":
            if let password = request.query["newPassword"] {
                extra["newPassword"] = .text(password)
            }
            self = .call(.resetPassword, project: nil, extra: extra)
        default: return nil
        }
    }
}
