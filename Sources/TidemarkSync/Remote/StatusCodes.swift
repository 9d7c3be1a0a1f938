import TidemarkModel

// The meaning of the code that ends a call or a stream. Each question of the engine has one list of
// all codes.

extension RPCStatus.Code {
    /// True if the same call may succeed a little later, so the cache may answer now.
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

    /// True if a write stream with this end refuses the first batch, because another attempt cannot
    /// help. Source: `core/remote/datastore.cc`, except for `aborted`, which for a write means that
    /// another attempt may help.
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

    /// True if the batch may have caused it, and not the network, the account or the load.
    var mayBeOfTheWrite: Bool {
        switch self {
        case .unknown, .internal, .aborted: true
        default: false
        }
    }

    /// True if the server answers a handshake with this code because it does not know the stream,
    /// and would answer the same again. Codes of a temporary state or of the caller's rights are
    /// excluded: if the stream were forgotten for them, batches that may have been applied would be
    /// sent again.
    var refusesResume: Bool {
        switch self {
        case .invalidArgument, .notFound, .failedPrecondition, .outOfRange, .unimplemented: true
        case .ok, .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .dataLoss,
            .internal, .unavailable, .unauthenticated, .aborted, .alreadyExists, .permissionDenied:
            false
        }
    }

    /// True if a commit with this end may have been applied.
    var leavesOpen: Bool {
        switch self {
        case .cancelled, .unknown, .deadlineExceeded, .internal, .unavailable, .dataLoss: true
        case .ok, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
            .resourceExhausted, .failedPrecondition, .aborted, .outOfRange, .unimplemented,
            .unauthenticated:
            false
        }
    }

    /// True if a transaction whose commit ended with this code may run again. Source: client-engine
    /// 2.13, `core/core/transaction_runner.cc`: codes of a conflict, and codes that are not known
    /// to be permanent.
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
