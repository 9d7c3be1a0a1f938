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
    /// What a program can read of the reason: `grpc-status-details-bin` on the wire.
    public var details: [Detail]
    /// Metadata that came after the last message, by lower-case key. No part of what two statuses
    /// are compared by.
    public var trailers: [String: String] = [:]

    /// The kinds of `google.rpc` that a Firestore sends.
    public enum Detail: Hashable, Sendable {
        /// Why, in a word that does not change: `INDEX_ENTRIES_COUNT_LIMIT_EXCEEDED`.
        case errorInfo(reason: String, domain: String, metadata: [String: String])
        case help(description: String, url: String)
        case badRequest(field: String, description: String)
    }

    public init(_ code: Code, _ message: String, details: [Detail] = []) {
        self.code = code
        self.message = message
        self.details = details
    }

    public static func == (left: RPCStatus, right: RPCStatus) -> Bool {
        left.code == right.code && left.message == right.message && left.details == right.details
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }

    public static let ok = RPCStatus(.ok, "")

    public static func invalidArgument(_ message: String) -> RPCStatus {
        RPCStatus(.invalidArgument, message)
    }
}

extension RPCStatus.Detail {
    /// Firestore's own reason, such as `TOO_MANY_AGGREGATIONS`.
    public static func reason(_ reason: String) -> Self {
        .errorInfo(reason: reason, domain: "firestore.googleapis.com", metadata: [:])
    }
}

extension RPCStatus {
    public init(_ invalid: InvalidPath) { self = .invalidArgument(invalid.message) }
}

extension RPCStatus: CustomStringConvertible {
    public var description: String { "\(code): \(message)" }
}
