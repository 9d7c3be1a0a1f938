/// Counts how the requests of a run have evaluated each part of a rules file.
///
/// A value that takes traced judgements (``RulesJudge/Tracing/always``).
public struct RulesCoverage: Sendable {
    /// The answers of an `allow`.
    public struct Answers: Hashable, Sendable {
        public var allowed = 0
        public var denied = 0
        public var failed = 0
        /// The number of queries for which the condition stayed undecided.
        public var undecided = 0

        public init() {}

        /// The number of all evaluations.
        public var asked: Int { allowed + denied + failed + undecided }
    }

    /// An `allow` with its answers.
    public struct Allow: Sendable {
        /// The start of the `allow`.
        public let position: SourceText.Position
        /// The text of the `allow`, on one line.
        public let text: String
        public let answers: Answers
    }

    let rules: Ruleset
    private var allows: [SourceText.Position: Answers] = [:]
    private var expressions: [Int: ExpressionCount] = [:]

    public init(of rules: Ruleset) { self.rules = rules }

    public mutating func note(_ judgement: RulesJudgement) {
        for verdict in judgement.decision.verdicts {
            var answers = allows[verdict.position] ?? Answers()
            switch verdict.outcome {
            case .allowed: answers.allowed += 1
            case .denied: answers.denied += 1
            case .failed: answers.failed += 1
            case .undecided: answers.undecided += 1
            }
            allows[verdict.position] = answers
        }
        for entry in judgement.values {
            expressions[Self.key(entry.range), default: ExpressionCount()].note(entry.outcome)
        }
    }

    private static func key(_ range: Range<Int>) -> Int {
        range.lowerBound << 32 | range.upperBound
    }

    func count(of node: Node) -> ExpressionCount? { expressions[Self.key(node.start..<node.end)] }

    /// The `allow`s of the file, in the order of the text.
    public var report: [Allow] {
        rules.blocks.flatMap(\.allows).sorted { $0.start < $1.start }.map { allow in
            let position = rules.source.position(at: allow.start)
            return Allow(
                position: position, text: rules.source.excerpt(allow.start..<allow.end),
                answers: allows[position] ?? Answers())
        }
    }

    /// The parts that the run has not tested: operands of `&&`, `||`, `!` and `?:` that always had
    /// the same value, and `allow`s that never allowed a request.
    public var untested: [RulesIssue] {
        var issues: [RulesIssue] = []
        for allow in report where allow.answers.allowed == 0 {
            let text =
                switch allow.answers.asked {
                case 0: "No request reached this allow."
                case 1: "One request reached this allow, and it was denied."
                case let asked: "\(asked) requests reached this allow, and all were denied."
                }
            issues.append(RulesIssue(.warning, at: allow.position, text))
        }
        for operand in operands {
            guard let count = count(of: operand), count.trues + count.falses > 0,
                count.trues == 0 || count.falses == 0
            else { continue }
            let text = rules.source.excerpt(operand.start..<operand.end)
            let value = count.trues > 0 ? "true" : "false"
            issues.append(
                RulesIssue(
                    .warning, at: rules.source.position(at: operand.start),
                    "Always \(value): \(text)."))
        }
        return issues.sorted()
    }

    /// The expressions that decide parts of conditions.
    private var operands: [Node] {
        var found: [Node] = []
        var rest = roots
        while let node = rest.popLast() {
            switch node.operation {
            case .and(let nodes), .or(let nodes): found += nodes
            case .not(let inner): found.append(inner)
            case .conditional(let test, _, _): found.append(test)
            default: break
            }
            rest += node.children
        }
        // Constants are constant by intention.
        return found.filter { if case .constant = $0.operation { false } else { true } }
    }

    /// The conditions, variables and results, in the order of the text.
    var roots: [Node] {
        let conditions = rules.blocks.flatMap(\.allows).compactMap(\.condition)
        let bodies = rules.functions.flatMap { $0.variables + [$0.result] }
        return (conditions + bodies).sorted { $0.start < $1.start }
    }
}

/// The values of an expression.
struct ExpressionCount: Sendable {
    /// The maximum number of different values that are kept. Further values are only counted.
    private static let mostValues = 8

    private(set) var values: [(value: Result<RulesValue, RulesFailure>, count: Int)] = []
    private(set) var trues = 0
    private(set) var falses = 0
    /// The number of evaluations with a value that is not in the list.
    private(set) var others = 0

    mutating func note(_ outcome: Result<RulesValue, RulesFailure>) {
        if case .success(.boolean(let value)) = outcome {
            if value { trues += 1 } else { falses += 1 }
        }
        if let index = values.firstIndex(where: { Self.isSame($0.value, outcome) }) {
            values[index].count += 1
        } else if values.count < Self.mostValues {
            values.append((outcome, 1))
        } else {
            others += 1
        }
    }

    /// Returns true if the outcomes count as the same. Large values are not compared: the first
    /// value of their type represents all.
    private static func isSame(
        _ left: Result<RulesValue, RulesFailure>, _ right: Result<RulesValue, RulesFailure>
    ) -> Bool {
        switch (left, right) {
        case (.failure(let a), .failure(let b)): return a.cause == b.cause
        case (.success(let a), .success(let b)):
            switch (a, b) {
            case (.null, .null), (.map, .map), (.list, .list), (.set, .set), (.known, .known),
                (.difference, .difference):
                return true
            default: return a.typeName == b.typeName && a.equals(b)
            }
        default: return false
        }
    }
}
