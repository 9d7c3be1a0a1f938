/// How a call or a stream ended: gRPC's codes, and a sentence.
public struct RPCStatus: Error, Hashable, Sendable {
    /// gRPC's numbers, which FirebaseFirestore's error codes share.
    public enum Code: Int32, Hashable, Sendable, CaseIterable {
        case ok = 0
        case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists
        case permissionDenied, resourceExhausted, failedPrecondition, aborted, outOfRange
        case unimplemented, `internal`, unavailable, dataLoss, unauthenticated
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public static let ok = RPCStatus(.ok, "")

    public static func invalidArgument(_ message: String) -> RPCStatus {
        RPCStatus(.invalidArgument, message)
    }
}

extension RPCStatus {
    public init(_ invalid: InvalidPath) { self = .invalidArgument(invalid.message) }
}

extension RPCStatus: CustomStringConvertible {
    public var description: String { "\(code): \(message)" }
}
