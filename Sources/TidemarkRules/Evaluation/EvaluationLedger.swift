/// What an evaluation has used, and what it has found a query to lack.
struct EvaluationLedger {
    /// Bytes of a text, and elements of a list, that an expression may make.
    static let mostElements = 1 << 20

    /// Whether the values are of all results of a query, and some of them are only known in part.
    let isProof: Bool
    private var evaluations = 0
    /// What may be copied, compared and matched before an evaluation is called too complex: elements of
    /// lists, bytes of texts, steps of patterns.
    var work = 2_000_000
    /// Conditions that a query lacks, as far as the undecided expressions name one.
    var lacking: [MissingCondition] = []

    init(isProof: Bool) { self.isProof = isProof }

    /// Counts expressions, as production does.
    mutating func spend(_ count: Int, at node: Node) throws(RulesFailure) {
        evaluations += count
        if evaluations > RulesLimits.evaluations { throw RulesFailure(.outOfEvaluations, node) }
    }

    /// Counts what an expression looks at.
    mutating func use(_ amount: Int, at node: Node) throws(RulesFailure) {
        work -= amount
        if work < 0 { throw RulesFailure(.tooComplex, node) }
    }
}
