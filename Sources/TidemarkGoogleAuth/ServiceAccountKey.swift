import CryptoExtras
import Foundation

/// The key of a service account, in the JSON form of Google's console. Its description is the
/// account's address.
public struct ServiceAccountKey: Sendable {
    /// The account's address, for example `backup@my-app.iam.gserviceaccount.com`.
    public let email: String
    /// The account's project; nil if the file does not name it.
    public let project: String?
    /// The address of the service that exchanges an assertion for a token.
    let tokenAddress: String
    private let id: String?
    private let key: _RSA.Signing.PrivateKey

    private struct File: Decodable {
        let type, client_email, private_key, private_key_id, project_id, token_uri: String?
    }

    /// - Throws: ``GoogleAuthError/badKey(_:)`` if the bytes are not the key of a service account.
    public init(json: [UInt8]) throws(GoogleAuthError) {
        guard let file = try? JSONDecoder().decode(File.self, from: Data(json)) else {
            throw .badKey("It is not the JSON of a key.")
        }
        guard file.type == "service_account" else {
            throw .badKey("Its type is \(file.type ?? "missing"), not service_account.")
        }
        guard let email = file.client_email, let pem = file.private_key else {
            throw .badKey("It has no client_email, or no private_key.")
        }
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) else {
            throw .badKey("Its private_key is not an RSA key of at least 2,048 bits.")
        }
        self.email = email
        self.key = key
        project = file.project_id
        id = file.private_key_id
        tokenAddress = file.token_uri ?? "https://oauth2.googleapis.com/token"
    }

    /// Reads a key file.
    public init(file path: String) throws(GoogleAuthError) {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .badKey("It cannot be read.")
        }
        try self.init(json: [UInt8](bytes))
    }

    private struct Head: Encodable {
        let alg = "RS256"
        let typ = "JWT"
        let kid: String?
    }

    private struct Claims: Encodable {
        let iss, scope, aud: String
        let iat, exp: Int64
    }

    /// Returns a signed assertion, valid for an hour, that the token service exchanges for a token.
    ///
    /// - Parameter now: The seconds since 1970.
    func assertion(scopes: [String], now: Int64) throws(GoogleAuthError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let claims = Claims(
            iss: email, scope: scopes.joined(separator: " "), aud: tokenAddress, iat: now,
            exp: now + 3_600)
        do {
            let head = try encoder.encode(Head(kid: id)).base64URL
            let body = try encoder.encode(claims).base64URL
            let signed = Data("\(head).\(body)".utf8)
            let signature = try key.signature(for: signed, padding: .insecurePKCS1v1_5)
            return "\(head).\(body).\(signature.rawRepresentation.base64URL)"
        } catch { throw .badKey("Nothing can be signed with it.") }
    }
}

extension ServiceAccountKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "ServiceAccountKey(\(email))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Data {
    /// The URL-safe form of base64 that tokens use: `-` and `_`, and no padding.
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
