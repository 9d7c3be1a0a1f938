import TidemarkModel
import TidemarkObjects

/// Finds out who sends a request, by its header `Authorization`.
struct ObjectCallers: Sendable {
    /// The maximum length of the claims that are kept with an upload, in bytes.
    private static let maxClaimsBytes = 16_384

    /// Verifies tokens; nil if every caller is admitted and tokens are not verified, as in an
    /// emulator.
    let gate: (any CallerGate)?

    /// The caller of Firebase's API.
    ///
    /// - Throws: ``ObjectRefusal`` with status 401 if the token is missing or invalid.
    func caller(_ header: String?) async throws(ObjectRefusal) -> ObjectCaller {
        let token = Self.token(in: header)
        if let gate {
            let caller: Caller
            do throws(RPCStatus) {
                caller = try await gate.caller(token, method: "storage")
            } catch { throw Self.refusal(error) }
            guard let userID = caller.userID else { return .administrator }
            return ObjectCaller(userID: userID, claims: token.flatMap(Self.claims))
        }
        guard let token else { return ObjectCaller() }
        if token == "owner" || token.hasPrefix("ya29.") { return .administrator }
        guard let claims = Self.claims(token),
            let object = try? JSONValue(Array(claims.utf8)).object
        else { throw .unauthenticated("The token is not a JWT.") }
        let userID = object["sub"]?.text ?? object["user_id"]?.text
        return ObjectCaller(userID: userID, claims: claims)
    }

    /// Checks a call of Cloud Storage's API, which only administrators may make. Without a gate,
    /// every program is an administrator, as in Firebase's emulator.
    func requireAdministrator(_ header: String?) async throws(ObjectRefusal) {
        guard gate != nil || header?.hasPrefix("Firebase ") == true else { return }
        if try await !caller(header).isAdministrator {
            throw .forbidden("Only an administrator may call the API of Cloud Storage.")
        }
    }

    private static func refusal(_ status: RPCStatus) -> ObjectRefusal {
        status.code == .unavailable
            ? .unavailable(status.message) : .unauthenticated(status.message)
    }

    /// Returns the token after `Firebase` or `Bearer`.
    private static func token(in header: String?) -> String? {
        guard let header else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["firebase", "bearer"].contains(parts[0].lowercased()) else {
            return header.isEmpty ? nil : header
        }
        return parts[1].isEmpty ? nil : parts[1]
    }

    /// Returns the claims of a token as JSON text, without a check of the signature.
    private static func claims(_ token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        guard let bytes = Base64Form.bytes(in: String(text)), bytes.count <= maxClaimsBytes,
            let json = try? JSONValue(bytes), json.object != nil
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
