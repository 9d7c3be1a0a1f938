import Foundation

/// Reads the claims of a token without checking them.
enum TokenClaims {
    static func read<Claims: Decodable>(_ type: Claims.Type, from token: String) -> Claims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let data = Data(base64URL: parts[1]) else { return nil }
        return try? JSONDecoder().decode(type, from: data)
    }
}

extension Data {
    /// Decodes the form of tokens: without padding, with `-` and `_`.
    init?(base64URL text: some StringProtocol) {
        var text = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        self.init(base64Encoded: text)
    }
}
