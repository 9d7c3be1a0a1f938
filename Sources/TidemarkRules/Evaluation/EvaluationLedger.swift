/// The resources used by an evaluation, and the conditions that a query lacks.
struct EvaluationLedger {
    /// The maximum number of bytes of a text, or of elements of a list, that an expression can
    /// make.
    static let mostElements = 1 << 20

    /// True if the evaluation proves a query: the values represent all results, and some are only
    /// partly known.
    let isProof: Bool
    private var evaluations = 0
    /// The remaining work before an evaluation counts as too complex. Copying, comparing and
    /// matching use it: elements of lists, bytes of texts, steps of patterns.
    var work = 2_000_000
    /// The conditions that the query lacks, as far as the undecided expressions name a condition.
    var lacking: [MissingCondition] = []

    init(isProof: Bool) { self.isProof = isProof }

    /// Counts evaluated expressions, as production does.
    mutating func spend(_ count: Int, at node: Node) throws(RulesFailure) {
        evaluations += count
        if evaluations > RulesLimits.evaluations { throw RulesFailure(.outOfEvaluations, node) }
    }

    /// Counts the work of an expression.
    mutating func use(_ amount: Int, at node: Node) throws(RulesFailure) {
        work -= amount
        if work < 0 { throw RulesFailure(.tooComplex, node) }
    }
}
