/// Whether a request is allowed, and why.
public struct RulesDecision: Sendable {
    /// What one `allow` answered.
    public struct Verdict: Sendable {
        /// Where the `allow` begins.
        public let position: SourceText.Position
        public let outcome: Outcome
        /// The condition as it is written; empty where it allows.
        public let expression: String
        /// Conditions that would decide, of which the query has none.
        public let lacking: [MissingCondition]
    }

    public enum Outcome: Sendable {
        case allowed
        /// The condition is false.
        case denied
        case failed(RulesFailure.Cause, at: SourceText.Position)
        /// A query: not sure for all of its results.
        case undecided
    }

    public let method: RulesMethod
    /// One for each `allow` of the method in a block that matched, as far as they were tried.
    public let verdicts: [Verdict]
    public let isAllowed: Bool
    /// What the rules have read, to be handed to the request's next decision.
    public let reads: RulesReads
}

extension Ruleset {
    /// Decides about a read or a write of one document.
    ///
    /// - Parameters:
    ///   - documents: Asked for what `get` and the like read.
    ///   - reads: What the request's rules have read so far.
    ///   - trace: Told of each expression's value. Costs nothing where it is nil.
    public func decide(
        _ request: RulesRequest, reading documents: any RulesDocuments,
        reads: RulesReads = RulesReads(), trace: RulesTrace? = nil
    ) -> RulesDecision {
        var reads = reads
        reads.beginOperation()
        var evaluator = Evaluator(self, request, documents, reads: reads, trace: trace)
        var verdicts: [RulesDecision.Verdict] = []
        let isAllowed = evaluator.isAllowed(in: self, &verdicts)
        return RulesDecision(
            method: request.method, verdicts: verdicts, isAllowed: isAllowed, reads: evaluator.reads
        )
    }
}

extension Evaluator {
    /// Tries the `allow`s of all blocks that match, until one is true.
    mutating func isAllowed(in rules: Ruleset, _ verdicts: inout [RulesDecision.Verdict]) -> Bool {
        for block in rules.blocks {
            guard block.allows.contains(where: { $0.methods.contains(request.method) }),
                let captures = block.pattern.captures(of: request.path)
            else { continue }
            self.captures = captures
            for allow in block.allows where allow.methods.contains(request.method) {
                let verdict = judge(allow, rules.source)
                verdicts.append(verdict)
                if case .allowed = verdict.outcome { return true }
            }
        }
        return false
    }

    private mutating func judge(
        _ allow: Ruleset.Allow, _ source: SourceText
    ) -> RulesDecision.Verdict {
        ledger.lacking = []
        let outcome = outcome(of: allow.condition, source)
        // The text is of interest to those who are refused.
        var expression = ""
        if case .allowed = outcome {
        } else {
            expression = source.excerpt(allow.conditionStart..<allow.end)
        }
        return RulesDecision.Verdict(
            position: source.position(at: allow.start), outcome: outcome, expression: expression,
            lacking: ledger.lacking)
    }

    private mutating func outcome(
        of condition: Node?, _ source: SourceText
    ) -> RulesDecision.Outcome {
        guard let condition else { return .allowed }
        do throws(RulesFailure) {
            guard let isTrue = try self.condition(condition) else { return .undecided }
            return isTrue ? .allowed : .denied
        } catch {
            return .failed(error.cause, at: source.position(at: error.offset))
        }
    }
}
