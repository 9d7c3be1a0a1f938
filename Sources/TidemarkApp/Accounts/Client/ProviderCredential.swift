import Foundation

/// A provider's identity token of a user: Apple's, Google's or another's.
public struct ProviderCredential: Sendable {
    static let apple = "apple.com"

    public let provider: String
    /// The provider's token for this app.
    public let idToken: String
    /// The nonce before it was hashed for the provider; nil for none.
    public let nonce: String?

    /// - Parameters:
    ///   - provider: The id of the provider, as in `apple.com`.
    ///   - idToken: The provider's token for this app.
    ///   - nonce: The nonce before it was hashed for the provider.
    public init(provider: String, idToken: String, nonce: String? = nil) {
        self.provider = provider
        self.idToken = idToken
        self.nonce = nonce
    }

    /// Apple's id of the user; nil for another provider, or a token without an id.
    var appleUser: String? {
        struct Claims: Decodable { let sub: String? }
        return provider == Self.apple ? TokenClaims.read(Claims.self, from: idToken)?.sub : nil
    }

    var postBody: String {
        let nonce = nonce.map { "&nonce=" + Self.escaped($0) } ?? ""
        return "id_token=" + Self.escaped(idToken) + "&providerId=" + Self.escaped(provider)
            + nonce
    }

    private static func escaped(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}

extension ProviderCredential: CustomStringConvertible, CustomReflectable {
    public var description: String { "ProviderCredential(\(provider))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
