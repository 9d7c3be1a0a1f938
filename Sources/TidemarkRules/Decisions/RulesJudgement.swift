import TidemarkModel

/// The decision of rules about one read, query or write, with everything needed to repeat the
/// decision.
public struct RulesJudgement: Sendable {
    struct Asker: Sendable {
        let caller: RulesCaller?
        let time: Timestamp
        let database: String
    }

    enum Subject: Sendable {
        case document(RulesRequest)
        case query(Query)
    }

    let subject: Subject
    let asker: Asker
    public let decision: RulesDecision
    /// The values of the expressions, in the order of evaluation. Empty without a trace.
    public let values: [RulesTrace.Entry]
    private let isTraced: Bool

    init(subject: Subject, asker: Asker, decision: RulesDecision, trace: RulesTrace?) {
        self.subject = subject
        self.asker = asker
        self.decision = decision
        values = trace?.entries ?? []
        isTraced = trace != nil
    }

    private init(_ other: RulesJudgement) {
        subject = other.subject
        asker = other.asker
        decision = other.decision
        values = []
        isTraced = false
    }

    /// The judgement without the values of its expressions.
    public var untraced: RulesJudgement { RulesJudgement(self) }

    public var isAllowed: Bool { decision.isAllowed }

    /// The account of the caller; nil if not signed in.
    public var caller: RulesCaller? { asker.caller }

    /// The document's path below the database; for a query, the collection.
    public var path: String {
        switch subject {
        case .document(let request): request.documentPath
        case .query(let query):
            (query.parent.map { $0.text + "/" } ?? "") + (query.allDescendants ? "**/" : "")
                + (query.collectionID ?? "*")
        }
    }

    /// The values of `request` and `resource`; for a query, the properties that all results share.
    /// The `resource` is nil if reading it was an error.
    package var variables: (request: RulesValue, resource: RulesValue?) {
        let request =
            switch subject {
            case .document(let request): request
            case .query(let query):
                RulesRequest(query, in: asker.database, as: caller, at: asker.time)
            }
        guard case .value(let resource) = request.resource else {
            return (.map(request.request), nil)
        }
        return (.map(request.request), resource)
    }

    /// Returns the reason for a refusal, with the deciding values if there is a trace. Empty if
    /// allowed.
    public func reason(in source: SourceText) -> String {
        decision.reason(in: source, trace: isTraced ? RulesTrace(values) : nil)
    }

    /// Returns a line for each expression that is not a literal: its position, its text, its value.
    public func lines(of source: SourceText) -> [String] { RulesTrace(values).lines(of: source) }

    /// Returns a line for each value passed to `debug()`: its position, its text, its value.
    public func debugLines(of rules: Ruleset) -> [String] {
        if rules.debugCalls.isEmpty { return [] }
        let shown = values.filter { rules.debugCalls.contains($0.range) }
        return RulesTrace(shown).lines(of: rules.source)
    }

    /// Repeats the decision with other rules.
    ///
    /// - Parameter base: Provides documents that the rules did not read the first time. After a
    ///   commit, these are the documents that the commit left.
    public func again(under rules: Ruleset, reading base: any RulesDatabase) -> RulesDecision {
        let documents = RecordedDocuments(
            reads: decision.reads, base: base, database: asker.database)
        return subject.decision(
            under: rules, asker, reading: documents, reads: RulesReads(operations: 2), trace: nil)
    }

    /// The approximate number of bytes of the judgement without its values: documents, claims and
    /// verdicts.
    public var extent: Int {
        let own =
            switch subject {
            case .document(let request): request.extent
            case .query: 1_024 + (caller?.claims.extent ?? 0)
            }
        return own + decision.reads.extent + decision.extent
    }
}

extension RulesJudgement.Subject {
    func decision(
        under rules: Ruleset, _ asker: RulesJudgement.Asker, reading documents: any RulesDocuments,
        reads: RulesReads, trace: RulesTrace?
    ) -> RulesDecision {
        switch self {
        case .document(let request):
            rules.decide(request, reading: documents, reads: reads, trace: trace)
        case .query(let query):
            rules.decide(
                query, in: asker.database, as: asker.caller, at: asker.time, reading: documents,
                reads: reads, trace: trace)
        }
    }
}

/// The documents as the rules of a request have read them. Other documents are read as they are
/// now.
private struct RecordedDocuments: RulesDocuments {
    let reads: RulesReads
    let base: any RulesDatabase
    let database: String

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        if let known = reads.known(function, path) { return known }
        guard let document = path.document(in: database) else {
            return .refused("The path is not a document of this database.")
        }
        guard let fields = try? base.fields(of: document) else { return .missing }
        return .document(.document(RulesMap(fields), at: path))
    }
}
