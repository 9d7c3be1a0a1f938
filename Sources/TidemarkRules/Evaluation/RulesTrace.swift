/// The values of all expressions of an evaluation, in the order of evaluation.
///
/// Used by one evaluation at a time, on one thread.
public final class RulesTrace {
    public struct Entry: Sendable {
        /// The position in the file, in bytes.
        let range: Range<Int>
        public let outcome: Result<RulesValue, RulesFailure>
    }

    /// The recorded values. Their number is bounded by the expressions that a request may evaluate
    /// for each matching block.
    public private(set) var entries: [Entry] = []

    public init() {}

    init(_ entries: [Entry]) { self.entries = entries }

    func note(_ node: Node, _ outcome: Result<RulesValue, RulesFailure>) {
        guard entries.count < 20 * RulesLimits.evaluations else { return }
        entries.append(Entry(range: node.start..<node.end, outcome: outcome))
    }

    /// Returns a line for each expression that is not a literal: its position, its text, its value.
    public func lines(of source: SourceText) -> [String] {
        entries.compactMap { entry in
            let text = source.excerpt(entry.range)
            let value = entry.outcome.shown
            if text == value { return nil }
            return "\(source.position(at: entry.range.lowerBound)) \(text) → \(value)"
        }
    }
}

extension Result where Success == RulesValue, Failure == RulesFailure {
    /// The value or the error as text.
    public var shown: String {
        switch self {
        case .success(let value): value.description
        case .failure(let failure): "error: " + failure.cause.message
        }
    }
}
