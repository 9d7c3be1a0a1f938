public import TidemarkModel
public import TidemarkRules

/// A read, query or write that the rules of a server were asked about.
public struct JudgedRequest: Sendable {
    /// Rises by one with each.
    public let number: Int
    public let time: Timestamp
    public let database: DatabaseID
    /// Whom the meter counts the call for; nil for unlabelled.
    public let label: String?
    public let method: RulesMethod
    /// The document, below the database; of a query the collection.
    public let path: String
    /// The account that asked; nil for nobody.
    public let uid: String?
    public let isAllowed: Bool
    /// Why not; empty where it was allowed.
    public let reason: String
    /// The lines of the `allow`s that were asked, in their order.
    public let lines: [Int]
    /// For deciding again; nil where its documents were too large to keep.
    package let judgement: RulesJudgement?
    /// What each `allow` that was asked has answered.
    package let outcomes: [(line: Int, outcome: Outcome)]

    package enum Outcome: String, Sendable { case allow, deny, error }
}

/// A request that other rules decide otherwise.
public struct RulesFlip: Sendable {
    public let request: JudgedRequest
    /// What the other rules say.
    public let isAllowed: Bool
    /// Why they refuse it; empty where they allow it.
    public let reason: String
}

/// The last requests that the rules of a server have decided about.
struct RulesRecord {
    /// Requests that are kept; the oldest are forgotten first.
    static let capacity = 500
    /// Bytes of documents that one of them may keep.
    static let mostExtent = 65_536

    private var requests: [JudgedRequest] = []
    private var next = 1

    /// - Parameter source: The file of the rules that have decided.
    mutating func note(
        _ judgement: RulesJudgement, _ context: CallContext, at time: Timestamp,
        _ source: SourceText
    ) -> JudgedRequest {
        let decision = judgement.decision
        let request = JudgedRequest(
            number: next, time: time, database: context.database, label: context.label,
            method: decision.method, path: judgement.path, uid: judgement.caller?.uid,
            isAllowed: decision.isAllowed, reason: judgement.reason(in: source),
            lines: decision.verdicts.map(\.position.line),
            judgement: judgement.extent <= Self.mostExtent ? judgement.untraced : nil,
            outcomes: decision.verdicts.map { ($0.position.line, $0.outcome.word) })
        requests.append(request)
        next += 1
        // Removed by the hundred, so that a removal costs little.
        if requests.count >= Self.capacity + 100 {
            requests.removeFirst(requests.count - Self.capacity)
        }
        return request
    }

    var latest: [JudgedRequest] { Array(requests.suffix(Self.capacity)) }

    mutating func clear() { requests = [] }
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
