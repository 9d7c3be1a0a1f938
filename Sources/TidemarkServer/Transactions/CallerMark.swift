import Foundation
import TidemarkModel

/// Tells callers apart, by the account that their token names: a transaction or a write stream is
/// its caller's alone.
///
/// Signatures are not looked at: where tokens are signed, a ``CallerGate`` did that before. An
/// administrator is one caller with all tokens. Any other token that names no account stands for
/// itself.
struct CallerMark: Hashable, Sendable {
    /// A short text without the token; the same in every process.
    let text: String

    init(_ context: CallContext) {
        guard let token = context.token, !token.isEmpty else {
            text = "0"
            return
        }
        if token == "owner" || token.hasPrefix("ya29.") {
            text = "owner"
            return
        }
        if let account = Self.account(token) {
            text = "a" + Self.digest(account)
        } else {
            text = "t" + Self.digest(token)
        }
    }

    /// The claims that name an account.
    private struct Claims: Decodable {
        let subject: String?
        let userID: String?

        private enum CodingKeys: String, CodingKey {
            case subject = "sub"
            case userID = "user_id"
        }
    }

    private static func account(_ token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var payload = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while !payload.utf8.count.isMultiple(of: 4) { payload += "=" }
        guard let data = Data(base64Encoded: String(payload)),
            let claims = try? JSONDecoder().decode(Claims.self, from: data)
        else { return nil }
        return claims.userID ?? claims.subject
    }

    /// FNV-1a: account ids are random, and made by the server where tokens are signed.
    private static func digest(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 36)
    }
}
