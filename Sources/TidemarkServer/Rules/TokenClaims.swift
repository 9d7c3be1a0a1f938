import Foundation
import TidemarkModel
import TidemarkRules

/// The caller that a token identifies: an account, an administrator, or an unauthenticated caller.
enum RulesIdentity {
    case administrator
    case caller(RulesCaller?)

    /// The token with which every server accepts an administrator in its own process.
    static let owner = "owner"

    /// Does not verify signatures and times. If tokens are signed, a ``CallerGate`` has already
    /// verified them.
    ///
    /// - Throws: `invalidArgument` for an invalid token.
    init(_ token: String?, administrators: Set<String>) throws(RPCStatus) {
        guard let token, !token.isEmpty else {
            self = .caller(nil)
            return
        }
        if token == Self.owner || token.hasPrefix("ya29.") || administrators.contains(token) {
            self = .administrator
            return
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let data = Self.decoded(parts[1]),
            let claims = try? JSONValue(Array(data)), case .map(let map) = RulesValue(claims)
        else { throw .invalidArgument("invalid jwt") }
        var uid = ""
        for name in ["sub", "user_id"] {
            if case .string(let text)? = map[name] { uid = text }
        }
        self = .caller(RulesCaller(uid: uid, claims: map))
    }

    /// Decodes base64url, with or without padding.
    private static func decoded(_ text: Substring) -> Data? {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return Data(base64Encoded: String(text))
    }
}
