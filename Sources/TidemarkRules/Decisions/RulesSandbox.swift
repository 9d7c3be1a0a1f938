public import TidemarkModel

/// Rules with a few documents in memory, for tests of a rules file.
///
/// ```swift
/// var rules = try RulesSandbox(text)
/// rules["rooms/blue"] = MapValue([("owner", .string("ann"))])
/// #expect(rules.allows(.get("rooms/blue"), as: .user("ann")))
/// #expect(rules.refusal(of: .delete("rooms/blue"), as: .nobody) != nil)
/// ```
public struct RulesSandbox: Sendable {
    public let rules: Ruleset
    /// What `request.time` is.
    public var time: Timestamp
    private var documents: [DocumentPath: MapValue] = [:]

    /// - Throws: ``InvalidRules`` with every error of the file.
    public init(_ text: String, at time: Timestamp = .epoch) throws(InvalidRules) {
        self.init(try Ruleset(text), at: time)
    }

    public init(_ rules: Ruleset, at time: Timestamp = .epoch) {
        self.rules = rules
        self.time = time
    }

    /// The fields of a document; nil where there is none, or the path names none.
    public subscript(path: String) -> MapValue? {
        get { (try? DocumentPath(path)).flatMap { documents[$0] } }
        set {
            guard let path = try? DocumentPath(path) else { return }
            documents[path] = newValue
        }
    }

    /// Whether the rules allow it.
    public func allows(_ operation: RulesOperation, as person: RulesPerson) -> Bool {
        judge(operation, as: person, tracing: .never)?.isAllowed ?? false
    }

    /// Why the rules refuse it, with the values that decided; nil when they allow it.
    public func refusal(of operation: RulesOperation, as person: RulesPerson) -> String? {
        guard let judgement = judge(operation, as: person, tracing: .always) else {
            return "The path names no document."
        }
        return judgement.isAllowed ? nil : judgement.reason(in: rules.source)
    }

    /// The value of each expression that was evaluated, in order.
    public func explanation(of operation: RulesOperation, as person: RulesPerson) -> [String] {
        judge(operation, as: person, tracing: .always)?.lines(of: rules.source) ?? []
    }

    /// The last judgement of those that the operation needs: the refused one, where there is one.
    ///
    /// - Returns: Nil for a path that names no document.
    private func judge(
        _ operation: RulesOperation, as person: RulesPerson, tracing: RulesJudge.Tracing
    ) -> RulesJudgement? {
        try? judgements(of: operation, as: person, tracing: tracing).last
    }

    /// What the rules decide about each read or write of an operation, up to the first refusal.
    ///
    /// - Throws: `InvalidPath` for a path that names no document.
    package func judgements(
        of operation: RulesOperation, as person: RulesPerson, tracing: RulesJudge.Tracing = .always
    ) throws -> [RulesJudgement] {
        let question = try operation.question()
        var judge = RulesJudge(
            rules, as: person.caller, at: time, of: SandboxDatabase(documents: documents),
            operations: question.operations, tracing: tracing)
        return try judge.judge(question)
    }
}

private struct SandboxDatabase: RulesDatabase {
    let documents: [DocumentPath: MapValue]

    func fields(of document: DocumentPath) -> MapValue? { documents[document] }
}
