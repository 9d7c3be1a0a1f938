public import TidemarkResilience

/// Why there is no token of a service account. For the log of a server, not for a person.
public enum GoogleAuthError: Error, Hashable, Sendable {
    /// Neither a key file was named, nor is there a metadata server.
    case noCredentials
    case badKey(String)
    /// The maker of tokens answered, and gave none: its word.
    case refused(String)
    /// No answer came.
    case unreachable(String)
}

extension GoogleAuthError: RetryClassifiable {
    public var failure: Failure {
        switch self {
        case .noCredentials, .badKey, .refused: Failure(.permanent)
        // To ask for a token changes nothing.
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
        case .refused(let word): "Google gives the service account no token: \(word)"
        case .unreachable(let detail): "No token of the service account in time: \(detail)"
        }
    }
}
