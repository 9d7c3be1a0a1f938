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
    /// What the call was billed, for who records calls within the process. On a wire it is among the
    /// trailers, where the caller asked for it. No part of what two statuses are compared by.
    package var billed: BilledCounts?
    /// What was tried before it was given up. No part of what two statuses are compared by.
    public var attempts = AttemptHistory()

    /// The kinds of `google.rpc` that a Firestore sends.
    public enum Detail: Hashable, Sendable {
        /// Why, in a word that does not change: `INDEX_ENTRIES_COUNT_LIMIT_EXCEEDED`.
        case errorInfo(reason: String, domain: String, metadata: [String: String])
        case help(description: String, url: String)
        case badRequest(field: String, description: String)
        /// How long to wait before the same call is made again.
        case retryAfter(Duration)
    }

    /// Documents read, written and deleted.
    package struct BilledCounts: Sendable {
        package let reads, writes, deletes: Int

        package init(reads: Int, writes: Int, deletes: Int) {
            (self.reads, self.writes, self.deletes) = (reads, writes, deletes)
        }
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

/// One of the attempts that a call took.
public struct CallAttempt: Hashable, Sendable {
    /// From 1.
    public var number: Int
    /// Since the call began.
    public var began: Duration
    /// Nil when it was left.
    public var ended: Duration?
    /// What was made of its end: `transient`, `throttled`, `authentication`, `permanent`, `unknown` or
    /// `cancelled`; nil when it has none.
    public var outcome: String?

    public init(number: Int, began: Duration, ended: Duration?, outcome: String?) {
        self.number = number
        self.began = began
        self.ended = ended
        self.outcome = outcome
    }
}

/// The attempts of a call, the newest 32, beside an error: two errors are as equal as they are without.
public struct AttemptHistory: Hashable, Sendable {
    public var attempts: [CallAttempt]

    public init(_ attempts: [CallAttempt] = []) { self.attempts = attempts }

    public static func == (left: Self, right: Self) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension RPCStatus.Code {
    /// As in `RESOURCE_EXHAUSTED`.
    package var wireName: String {
        switch self {
        case .ok: "OK"
        case .cancelled: "CANCELLED"
        case .unknown: "UNKNOWN"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .deadlineExceeded: "DEADLINE_EXCEEDED"
        case .notFound: "NOT_FOUND"
        case .alreadyExists: "ALREADY_EXISTS"
        case .permissionDenied: "PERMISSION_DENIED"
        case .resourceExhausted: "RESOURCE_EXHAUSTED"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .aborted: "ABORTED"
        case .outOfRange: "OUT_OF_RANGE"
        case .unimplemented: "UNIMPLEMENTED"
        case .internal: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .dataLoss: "DATA_LOSS"
        case .unauthenticated: "UNAUTHENTICATED"
        }
    }

    package init?(wireName: String) {
        guard let code = Self.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = code
    }
}
