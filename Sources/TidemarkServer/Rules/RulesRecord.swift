public import TidemarkModel
public import TidemarkRules

/// A read, query or write that the rules of a server have judged.
public struct JudgedRequest: Sendable {
    /// The number of the request. It increases by one with each request.
    public let number: Int
    public let time: Timestamp
    public let database: DatabaseID
    /// The caller's label in the meter; nil if there is none.
    public let label: String?
    public let method: RulesMethod
    /// The path of the document in its database. For a query, the path of the collection.
    public let path: String
    /// The calling account; nil for an unauthenticated caller.
    public let uid: String?
    public let isAllowed: Bool
    /// The reason for the refusal; empty if the request was allowed.
    public let reason: String
    /// The lines of the evaluated `allow`s, in order.
    public let lines: [Int]
    /// The data for another judgement; nil if the documents were too large to keep.
    package let judgement: RulesJudgement?
    /// The result of each evaluated `allow`.
    package let outcomes: [(line: Int, outcome: Outcome)]

    package enum Outcome: String, Sendable { case allow, deny, error }

    /// The approximate number of bytes in memory.
    var extent: Int {
        var bytes = MemoryLayout<Self>.stride + (judgement?.extent ?? 0)
        bytes += lines.count * MemoryLayout<(Int, Int, Outcome)>.stride
        for text in [database.project, database.database, label, path, uid, reason] {
            bytes += text?.utf8.count ?? 0
        }
        return bytes
    }
}

/// A request that other rules decide differently.
public struct RulesFlip: Sendable {
    public let request: JudgedRequest
    /// True if the other rules allow the request.
    public let isAllowed: Bool
    /// The reason why the other rules refuse the request; empty if they allow it.
    public let reason: String
}

/// The last requests that the rules of a server have judged.
struct RulesRecord {
    /// The maximum number of kept requests. Above it, the oldest are dropped.
    /// The maximum number of kept requests; the oldest are forgotten first.
    static let capacity = 500
    /// The maximum bytes of documents that a request may keep.
    /// The maximum number of bytes that a request may keep for deciding again.
    static let mostExtent = 65_536
    /// The maximum number of `allow`s whose lines and answers are kept of a request.
    static let mostAllows = 1_000
    /// The maximum number of bytes of all kept requests; the oldest are forgotten first.
    static let maxBytes = 16 << 20

    private var requests: [JudgedRequest] = []
    /// The extents of ``requests``.
    private var extents: [Int] = []
    /// The sum of ``extents``.
    private(set) var bytes = 0
    private var next = 1

    /// - Parameter source: The text of the rules that have decided.
    mutating func note(
        _ judgement: RulesJudgement, context: CallContext, at time: Timestamp,
        source: SourceText
    ) -> JudgedRequest {
        let decision = judgement.decision
        let request = JudgedRequest(
            number: next, time: time, database: context.database, label: context.label,
            method: decision.method, path: judgement.path, uid: judgement.caller?.uid,
            isAllowed: decision.isAllowed, reason: judgement.reason(in: source),
            lines: decision.verdicts.prefix(Self.mostAllows).map(\.position.line),
            judgement: judgement.extent <= Self.mostExtent ? judgement.untraced : nil,
            outcomes: decision.verdicts.prefix(Self.mostAllows).map {
                ($0.position.line, $0.outcome.word)
            })
        requests.append(request)
        extents.append(request.extent)
        bytes += request.extent
        next += 1
        // Removes a hundred requests together, because each removal moves the array.
        if requests.count >= Self.capacity + 100 {
            removeFirst(requests.count - Self.capacity)
        }
        if bytes > Self.maxBytes {
            var (count, left) = (0, bytes)
            // A quarter at once, for the same reason. The newest stays.
            while left > Self.maxBytes / 4 * 3, count < requests.count - 1 {
                left -= extents[count]
                count += 1
            }
            removeFirst(count)
        }
        return request
    }

    private mutating func removeFirst(_ count: Int) {
        bytes -= extents.prefix(count).reduce(0, +)
        requests.removeFirst(count)
        extents.removeFirst(count)
    }

    var latest: [JudgedRequest] { Array(requests.suffix(Self.capacity)) }

    mutating func clear() { (requests, extents, bytes) = ([], [], 0) }
}

extension RulesDecision.Outcome {
    fileprivate var word: JudgedRequest.Outcome {
        switch self {
        case .allowed: .allow
        case .denied, .undecided: .deny
        case .failed: .error
        }
    }
}
