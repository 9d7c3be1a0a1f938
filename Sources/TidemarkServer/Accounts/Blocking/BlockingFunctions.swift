/// A moment at which a function decides about a sign-in before the server does.
package enum BlockingMoment: String, Hashable, Sendable, CaseIterable {
    /// A client is about to create an account.
    case beforeCreate
    /// A client is about to receive tokens.
    case beforeSignIn
}

/// A project's blocking functions. Source: functions-events 10.
///
/// The triggers `beforeSendEmail` and `beforeSendSms` are accepted and never called, because this
/// server sends neither.
struct BlockingFunctions: Hashable, Sendable {
    /// The maximum length of a function's URL, in bytes.
    private static let maxURLBytes = 2_048

    private(set) var urls: [BlockingMoment: String] = [:]
    /// True if the functions receive a provider's ID token.
    private(set) var forwardsIDToken = false
    /// True if the functions receive a provider's access token.
    private(set) var forwardsAccessToken = false

    init() {}

    /// - Throws: `INVALID_ARGUMENT` for a URL that is not one of HTTP.
    init(_ json: [String: JSONTree]) throws(AccountRefusal) {
        let fields = AccountFields(json)
        let triggers = AccountFields(try fields.object("triggers") ?? [:])
        for moment in BlockingMoment.allCases {
            guard let trigger = try triggers.object(moment.rawValue),
                let url = try AccountFields(trigger).filled(
                    "functionUri", upTo: Self.maxURLBytes)
            else { continue }
            guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
                throw .invalidArgument("functionUri must begin with http:// or https://.")
            }
            urls[moment] = url
        }
        let forwarded = AccountFields(try fields.object("forwardInboundCredentials") ?? [:])
        forwardsIDToken = try forwarded.flag("idToken") ?? false
        forwardsAccessToken = try forwarded.flag("accessToken") ?? false
    }

    var json: JSONTree {
        var triggers: [String: JSONTree] = [:]
        for (moment, url) in urls {
            triggers[moment.rawValue] = .object(["functionUri": .text(url)])
        }
        return .object([
            "triggers": .object(triggers),
            "forwardInboundCredentials": .object([
                "idToken": .bool(forwardsIDToken), "accessToken": .bool(forwardsAccessToken),
                // This server has no refresh tokens of providers.
                "refreshToken": .bool(false),
            ]),
        ])
    }
}

/// A question that a call must ask a function before the call can be decided. The call's own
/// transaction is rolled back. The shell adds the answer to the call and performs the call again.
package struct BlockingQuestion: Error, Hashable, Sendable {
    /// The maximum number of questions of a call: one for each moment, and one more for an account
    /// that another call created or removed meanwhile.
    package static let maxPerCall = 4

    package let moment: BlockingMoment
    package let url: String
    /// The id of the account that the question is about.
    let localID: String
    /// The id that the call has chosen for a new account; nil if the call creates none.
    let newID: String?
    /// The claims of the token that the function receives.
    package let claims: [String: JSONTree]

    /// Returns the answer for a function's reply.
    ///
    /// - Parameter reply: The function's reply: a JSON object, which may be empty.
    /// - Throws: `BLOCKING_FUNCTION_ERROR_RESPONSE` if the reply has no valid form.
    package func answer(_ reply: [String: JSONTree]) throws(AccountRefusal) -> BlockingAnswer {
        guard let record = reply["userRecord"], record != .null else {
            return answer(changes: [:])
        }
        guard let fields = record.fields, let mask = fields["updateMask"].text else {
            throw .blockingFunction("The userRecord of the answer has no updateMask.")
        }
        var changes: [String: JSONTree] = [:]
        for name in mask.split(separator: ",").map(String.init) {
            changes[name] = fields[name] ?? .null
        }
        return answer(changes: changes)
    }

    private func answer(changes: [String: JSONTree]) -> BlockingAnswer {
        BlockingAnswer(moment: moment, localID: localID, newID: newID, changes: changes)
    }
}

/// A function's answer to a ``BlockingQuestion``.
package struct BlockingAnswer: Hashable, Sendable {
    let moment: BlockingMoment
    let localID: String
    let newID: String?
    /// The new values of the account's fields; null removes a value.
    let changes: [String: JSONTree]

    /// Changes the account, and returns the claims for the tokens of this sign-in alone.
    ///
    /// - Throws: `BLOCKING_FUNCTION_ERROR_RESPONSE` for a value of a wrong type or size, and for
    ///   claims of a session that does not begin yet.
    func apply(to account: inout Account) throws(AccountRefusal) -> [String: JSONTree] {
        var session: [String: JSONTree] = [:]
        for (name, value) in changes {
            switch name {
            case "displayName": account.displayName = try text(name, value)
            case "photoUrl", "photoURL": account.photoURL = try text(name, value)
            case "disabled": account.isDisabled = try flag(name, value)
            case "emailVerified": account.isEmailVerified = try flag(name, value)
            case "customClaims":
                let claims = try claims(name, value)
                account.customAttributes = claims.isEmpty ? nil : AccountClaims.text(claims)
            case "sessionClaims":
                guard moment == .beforeSignIn else {
                    throw .blockingFunction("sessionClaims are allowed in beforeSignIn only.")
                }
                session = try claims(name, value)
            default: continue
            }
        }
        return session
    }

    private func text(_ name: String, _ value: JSONTree) throws(AccountRefusal) -> String? {
        if value == .null { return nil }
        guard let text = JSONTree?.some(value).text, text.utf8.count <= 2_048 else {
            throw .blockingFunction("\(name) must be a text of at most 2048 bytes.")
        }
        return text.isEmpty ? nil : text
    }

    private func flag(_ name: String, _ value: JSONTree) throws(AccountRefusal) -> Bool {
        if value == .null { return false }
        guard let flag = JSONTree?.some(value).flag else {
            throw .blockingFunction("\(name) must be true or false.")
        }
        return flag
    }

    private func claims(
        _ name: String, _ value: JSONTree
    ) throws(AccountRefusal) -> [String: JSONTree] {
        if value == .null { return [:] }
        guard let claims = value.fields else {
            throw .blockingFunction("\(name) must be an object.")
        }
        if let reserved = claims.keys.sorted().first(where: AccountClaims.reserved.contains) {
            throw .blockingFunction("\(name) must not contain \(reserved).")
        }
        guard AccountClaims.text(claims).utf8.count <= AccountClaims.maxTextBytes else {
            throw .blockingFunction(
                "\(name) must have at most \(AccountClaims.maxTextBytes) bytes.")
        }
        return claims
    }
}

extension AccountRefusal {
    /// The refusal of a call whose function failed, or did not allow the call.
    ///
    /// - Parameter status: 400 if the function answered, 500 if the function cannot be reached.
    package static func blockingFunction(
        _ reason: String, status: Int = 400
    ) -> AccountRefusal {
        AccountRefusal("BLOCKING_FUNCTION_ERROR_RESPONSE : ((\(reason)))", status: status)
    }
}
