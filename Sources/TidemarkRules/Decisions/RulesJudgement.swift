import TidemarkModel

/// What rules decided about one read, query or write, with all that is needed to decide again.
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
    /// The values of the expressions, in the order in which they were known. Empty without a trace.
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

    /// The same without the values of its expressions.
    public var untraced: RulesJudgement { RulesJudgement(self) }

    public var isAllowed: Bool { decision.isAllowed }

    /// The account that asked; nil for nobody.
    public var caller: RulesCaller? { asker.caller }

    /// The document, below the database; of a query the collection.
    public var path: String {
        switch subject {
        case .document(let request): request.documentPath
        case .query(let query):
            (query.parent.map { $0.text + "/" } ?? "") + (query.allDescendants ? "**/" : "")
                + (query.collectionID ?? "*")
        }
    }

    /// What `request` was, and `resource`; of a query what all of its results have in common. Nil for
    /// a `resource` that whoever read it got an error for.
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

    /// Why it was refused, with the values that decided where there is a trace. Empty when allowed.
    public func reason(in source: SourceText) -> String {
        decision.reason(in: source, trace: isTraced ? RulesTrace(values) : nil)
    }

    /// One line for each expression that is no literal: its place, its text, its value.
    public func lines(of source: SourceText) -> [String] { RulesTrace(values).lines(of: source) }

    /// One line for each value that a `debug()` of the rules was given: its place, its text, its value.
    public func debugLines(of rules: Ruleset) -> [String] {
        if rules.debugCalls.isEmpty { return [] }
        let shown = values.filter { rules.debugCalls.contains($0.range) }
        return RulesTrace(shown).lines(of: rules.source)
    }

    /// Decides the same again under other rules.
    ///
    /// - Parameter base: Asked for documents that the rules did not read the first time; after a commit
    ///   these are as that left them.
    public func again(under rules: Ruleset, reading base: any RulesDatabase) -> RulesDecision {
        let documents = RecordedDocuments(
            reads: decision.reads, base: base, database: asker.database)
        return subject.decision(
            under: rules, asker, reading: documents, reads: RulesReads(operations: 2), trace: nil)
    }

    /// About how many bytes of documents it holds.
    public var extent: Int {
        let own =
            switch subject {
            case .document(let request): request.extent
            case .query: 1_024
            }
        return own + decision.reads.extent
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

/// Documents as a request's rules have read them; others as they are now.
private struct RecordedDocuments: RulesDocuments {
    let reads: RulesReads
    let base: any RulesDatabase
    let database: String

    func lookUp(_ path: RulesPath, for function: RulesRead) -> RulesLookup {
        if let known = reads.known(function, path) { return known }
        guard let document = path.document(in: database) else {
            return .refused("The path names no document of this database.")
        }
        guard let fields = try? base.fields(of: document) else { return .missing }
        return .document(.document(RulesMap(fields), at: path))
    }
}
