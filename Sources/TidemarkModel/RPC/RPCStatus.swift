/// The result of a call or a stream: a gRPC code and a message.
public struct RPCStatus: Error, Hashable, Sendable {
    /// gRPC's status codes. FirebaseFirestore's error codes have the same numbers.
    public enum Code: Int32, Hashable, Sendable, CaseIterable {
        case ok = 0
        case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists
        case permissionDenied, resourceExhausted, failedPrecondition, aborted, outOfRange
        case unimplemented, `internal`, unavailable, dataLoss, unauthenticated
    }

    public var code: Code
    public var message: String
    /// The reason in a form for programs: `grpc-status-details-bin` on the wire.
    public var details: [Detail]
    /// Metadata that followed the last message, by lower-case key. Ignored by `==`.
    public var trailers: [String: String] = [:]
    /// The billed operations of the call, for code in the same process that records calls. On the
    /// wire they are in the trailers if the caller asked for them. Ignored by `==`.
    package var billed: BilledCounts?
    /// The attempts made before the call failed. Ignored by `==`.
    public var attempts = AttemptHistory()

    /// The kinds of `google.rpc` details that Firestore sends.
    public enum Detail: Hashable, Sendable {
        /// The reason as a constant, for example `INDEX_ENTRIES_COUNT_LIMIT_EXCEEDED`.
        case errorInfo(reason: String, domain: String, metadata: [String: String])
        case help(description: String, url: String)
        case badRequest(field: String, description: String)
        /// The time to wait before a retry of the same call.
        case retryAfter(Duration)
    }

    /// The numbers of documents read, written and deleted.
    package struct BilledCounts: Sendable {
        package let reads, writes, deletes: Int
        /// The units of a database of the Enterprise edition; zero for another.
        package let units: BilledUnits

        package init(
            reads: Int, writes: Int, deletes: Int, units: BilledUnits = BilledUnits()
        ) {
            (self.reads, self.writes, self.deletes) = (reads, writes, deletes)
            self.units = units
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
    /// Firestore's own reason, for example `TOO_MANY_AGGREGATIONS`.
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

/// An attempt of a call.
public struct CallAttempt: Hashable, Sendable {
    /// The number of the attempt, from 1.
    public var number: Int
    /// The start of the attempt, as the time since the call began.
    public var began: Duration
    /// The end of the attempt, since the call began; nil if the attempt was abandoned.
    public var ended: Duration?
    /// The classified result: `transient`, `throttled`, `authentication`, `permanent`, `unknown` or
    /// `cancelled`; nil if the attempt has no result.
    public var outcome: String?

    public init(number: Int, began: Duration, ended: Duration?, outcome: String?) {
        self.number = number
        self.began = began
        self.ended = ended
        self.outcome = outcome
    }
}

/// The newest 32 attempts of a call, attached to an error. All histories are equal, so they do not
/// affect the equality of errors.
public struct AttemptHistory: Hashable, Sendable {
    public var attempts: [CallAttempt]

    public init(_ attempts: [CallAttempt] = []) { self.attempts = attempts }

    public static func == (left: Self, right: Self) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}

extension RPCStatus.Code {
    /// The name on the wire, for example `RESOURCE_EXHAUSTED`.
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
