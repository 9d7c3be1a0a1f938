/// The decision about a request, and its reasons.
public struct RulesDecision: Sendable {
    /// The result of one `allow`.
    public struct Verdict: Sendable {
        /// The start of the `allow`.
        public let position: SourceText.Position
        public let outcome: Outcome
        /// The text of the condition; empty if the condition allows.
        public let expression: String
        /// Conditions that the query lacks and that would decide the expression.
        public let lacking: [MissingCondition]
    }

    public enum Outcome: Sendable {
        case allowed
        /// The condition is false.
        case denied
        case failed(RulesFailure.Cause, at: SourceText.Position)
        /// The condition is not certain for every result of a query.
        case undecided
    }

    public let method: RulesMethod
    /// The results of the tried `allow`s of the method, in matching blocks.
    public let verdicts: [Verdict]
    public let isAllowed: Bool
    /// The documents that the rules have read. Pass them to the request's next decision.
    public let reads: RulesReads
}

extension RulesDecision.Verdict {
    /// The verdict of an `allow` that was not tried, because the request has tried too many.
    fileprivate init(tooMany allow: Ruleset.Allow, _ source: SourceText) {
        position = source.position(at: allow.start)
        outcome = .failed(.outOfEvaluations, at: source.position(at: allow.conditionStart))
        expression = source.excerpt(allow.conditionStart..<allow.end)
        lacking = []
    }
}

extension RulesDecision {
    /// The approximate number of bytes of the verdicts.
    var extent: Int {
        verdicts.reduce(0) { $0 + MemoryLayout<Verdict>.stride + $1.expression.utf8.count }
    }
}

extension Ruleset {
    /// Decides about a read or a write of one document.
    ///
    /// - Parameters:
    ///   - documents: Provides the documents for `get` and similar functions.
    ///   - reads: The documents that the request's rules have read so far.
    ///   - trace: Records the value of each expression. Costs nothing if nil.
    public func decide(
        _ request: RulesRequest, reading documents: any RulesDocuments,
        reads: RulesReads = RulesReads(), trace: RulesTrace? = nil
    ) -> RulesDecision {
        var reads = reads
        reads.beginOperation()
        var evaluator = Evaluator(
            ruleset: self, request: request, documents: documents, reads: reads, trace: trace)
        var verdicts: [RulesDecision.Verdict] = []
        let isAllowed = evaluator.isAllowed(in: self, &verdicts)
        return RulesDecision(
            method: request.method, verdicts: verdicts, isAllowed: isAllowed, reads: evaluator.reads
        )
    }
}

extension Evaluator {
    /// Tries the `allow`s of all matching blocks until one allows the request, or the request has
    /// tried ``RulesLimits/allowsPerRequest``.
    mutating func isAllowed(in rules: Ruleset, _ verdicts: inout [RulesDecision.Verdict]) -> Bool {
        for block in rules.blocks {
            guard block.allows.contains(where: { $0.methods.contains(request.method) }),
                let captures = block.pattern.captures(of: request.path)
            else { continue }
            self.captures = captures
            for allow in block.allows where allow.methods.contains(request.method) {
                guard reads.countAllow() else {
                    verdicts.append(RulesDecision.Verdict(tooMany: allow, rules.source))
                    return false
                }
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
        // Only a refused caller needs the text.
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
