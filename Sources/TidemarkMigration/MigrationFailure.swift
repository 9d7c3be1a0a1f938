package import TidemarkModel

/// The meaning of a status for a migration.
package enum MigrationFailure: Hashable, Sendable {
    /// The document has another version than the read, or does not exist.
    case otherVersion
    /// The same call may succeed later.
    case temporary
    /// Every further call would fail, too.
    case forAll
    /// The server refuses this change, and perhaps no other.
    case ofThisDocument
}

extension RPCStatus {
    package var migrationFailure: MigrationFailure {
        switch code {
        case .failedPrecondition, .notFound, .alreadyExists: .otherVersion
        case .aborted, .unavailable, .deadlineExceeded, .internal, .unknown, .resourceExhausted:
            .temporary
        case .permissionDenied, .unauthenticated, .cancelled, .unimplemented: .forAll
        case .ok, .invalidArgument, .outOfRange, .dataLoss: .ofThisDocument
        }
    }

    /// A sentence with the reason and, if there is one, a remedy.
    package var migrationSentence: String {
        switch code {
        case .permissionDenied:
            """
            Firestore refused: \(message) The account needs the role Cloud Datastore User \
            (roles/datastore.user).
            """
        case .unauthenticated: "Firestore did not accept the token: \(message)"
        case .unavailable, .deadlineExceeded: "Firestore cannot be reached: \(message)"
        case .resourceExhausted: "Firestore's quota is used up: \(message)"
        default: message
        }
    }
}
