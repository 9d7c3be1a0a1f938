/// The values of all expressions of an evaluation, in the order in which they were known.
///
/// Used by one evaluation at a time, on one thread.
public final class RulesTrace {
    public struct Entry: Sendable {
        /// Its place in the file, in bytes.
        let range: Range<Int>
        public let outcome: Result<RulesValue, RulesFailure>
    }

    /// At most as many as a request may evaluate, for each block that matched.
    public private(set) var entries: [Entry] = []

    public init() {}

    init(_ entries: [Entry]) { self.entries = entries }

    func note(_ node: Node, _ outcome: Result<RulesValue, RulesFailure>) {
        guard entries.count < 20 * RulesLimits.evaluations else { return }
        entries.append(Entry(range: node.start..<node.end, outcome: outcome))
    }

    /// One line for each expression that is no literal: its place, its text, its value.
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
    /// The value, or what is wrong.
    public var shown: String {
        switch self {
        case .success(let value): value.description
        case .failure(let failure): "error: " + failure.cause.message
        }
    }
}
