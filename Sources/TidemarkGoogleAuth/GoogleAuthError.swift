public import TidemarkResilience

/// The reason why a service account has no token. It is meant for a server's log, not for
/// the users of an app.
public enum GoogleAuthError: Error, Hashable, Sendable {
    /// No key file was named, and there is no metadata server.
    case noCredentials
    case badKey(String)
    /// The token service answered with an error; the text is its message.
    case refused(String)
    /// The token service did not answer.
    case unreachable(String)
}

extension GoogleAuthError: RetryClassifiable {
    public var failure: Failure {
        switch self {
        case .noCredentials, .badKey, .refused: Failure(.permanent)
        // A request for a token changes nothing.
        case .unreachable: Failure(.transient, hadNoEffect: true)
        }
    }
}

extension GoogleAuthError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noCredentials:
            "No credentials: name a key file in GOOGLE_APPLICATION_CREDENTIALS, or run where Google's "
                + "metadata server is."
        case .badKey(let detail): "The key of the service account cannot be used. \(detail)"
        case .refused(let word): "Google refused a token for the service account: \(word)"
        case .unreachable(let detail):
            """
            Google sent no token for the service account in time: \(detail)
            """
        }
    }
}
