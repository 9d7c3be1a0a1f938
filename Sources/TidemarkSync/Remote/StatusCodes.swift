import TidemarkModel

// What the end of a call or a stream says, by its code: for each question that the engine asks, one list
// of all codes.

extension RPCStatus.Code {
    /// Whether the same call may well go through a little later, so that the cache may answer now.
    var mayPass: Bool {
        switch self {
        case .unavailable, .deadlineExceeded, .cancelled, .unknown, .internal, .resourceExhausted,
            .aborted:
            true
        case .ok, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
            .failedPrecondition, .outOfRange, .unimplemented, .dataLoss, .unauthenticated:
            false
        }
    }

    /// Whether a write stream that ends so refuses the first batch: trying again cannot help. Source:
    /// `core/remote/datastore.cc`; `aborted` aside, which for a write means that trying again may.
    var rejectsWrite: Bool {
        switch self {
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition,
            .outOfRange, .unimplemented, .dataLoss:
            true
        case .ok, .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted,
            .internal, .unavailable, .unauthenticated:
            false
        }
    }

    /// Whether it may be the batch's fault, and not the network's, the account's or the load's.
    var mayBeOfTheWrite: Bool {
        switch self {
        case .unknown, .internal, .aborted: true
        default: false
        }
    }

    /// Whether a server that says so to a handshake does not know the stream, and would say it again.
    /// What may be of the moment, or of who asks, is none of these: forgetting the stream for it would
    /// send again what may have been applied.
    var refusesResume: Bool {
        switch self {
        case .invalidArgument, .notFound, .failedPrecondition, .outOfRange, .unimplemented: true
        case .ok, .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .dataLoss,
            .internal, .unavailable, .unauthenticated, .aborted, .alreadyExists, .permissionDenied:
            false
        }
    }

    /// Whether a commit that ends so may have been applied.
    var leavesOpen: Bool {
        switch self {
        case .cancelled, .unknown, .deadlineExceeded, .internal, .unavailable, .dataLoss: true
        case .ok, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
            .resourceExhausted, .failedPrecondition, .aborted, .outOfRange, .unimplemented,
            .unauthenticated:
            false
        }
    }

    /// Whether a transaction whose commit ends so may be made again. Source: client-engine 2.13,
    /// `core/core/transaction_runner.cc`: what tells of a conflict, and what is not known to be permanent.
    var isWorthAnotherAttempt: Bool {
        switch self {
        case .aborted, .alreadyExists, .failedPrecondition: true
        case .unknown, .deadlineExceeded, .resourceExhausted, .internal, .unavailable,
            .unauthenticated:
            true
        case .ok, .cancelled, .invalidArgument, .notFound, .permissionDenied, .outOfRange,
            .unimplemented, .dataLoss:
            false
        }
    }
}
