import Foundation

/// What a provider says of a person: Apple, Google and others.
public struct ProviderCredential: Sendable {
    static let apple = "apple.com"

    public let provider: String
    let idToken: String
    let nonce: String?

    /// - Parameters:
    ///   - provider: As in `apple.com`.
    ///   - idToken: The provider's, for this app.
    ///   - nonce: As it was before it was hashed for the provider.
    public init(provider: String, idToken: String, nonce: String? = nil) {
        self.provider = provider
        self.idToken = idToken
        self.nonce = nonce
    }

    /// Apple's id of the person; nil for another provider, or a token that does not say.
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
