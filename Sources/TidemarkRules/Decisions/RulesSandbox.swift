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
    /// The value of `request.time`.
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

    /// The fields of a document; nil if it does not exist or the path names no document.
    public subscript(path: String) -> MapValue? {
        get { (try? DocumentPath(path)).flatMap { documents[$0] } }
        set {
            guard let path = try? DocumentPath(path) else { return }
            documents[path] = newValue
        }
    }

    /// Returns true if the rules allow the operation.
    public func allows(_ operation: RulesOperation, as person: RulesPerson) -> Bool {
        judge(operation, as: person, tracing: .never)?.isAllowed ?? false
    }

    /// Returns the reason for a refusal with the deciding values; nil if the rules allow the
    /// operation.
    public func refusal(of operation: RulesOperation, as person: RulesPerson) -> String? {
        guard let judgement = judge(operation, as: person, tracing: .always) else {
            return "The path is not a document."
        }
        return judgement.isAllowed ? nil : judgement.reason(in: rules.source)
    }

    /// Returns a line for each evaluated expression with its value, in the order of evaluation.
    public func explanation(of operation: RulesOperation, as person: RulesPerson) -> [String] {
        judge(operation, as: person, tracing: .always)?.lines(of: rules.source) ?? []
    }

    /// Returns the last of the judgements that the operation needs; the refusal, if there is one.
    ///
    /// - Returns: The judgement; nil for a path that names no document.
    private func judge(
        _ operation: RulesOperation, as person: RulesPerson, tracing: RulesJudge.Tracing
    ) -> RulesJudgement? {
        try? judgements(of: operation, as: person, tracing: tracing).last
    }

    /// Returns the judgements about each read or write of an operation, up to the first refusal.
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
