import TidemarkModel
import TidemarkRules
import TidemarkStore

/// The security rules in force, and who asks them: reads, listens' targets and commits.
///
/// All projects share rules, except those that were given some of their own.
final class RulesChecks {
    private let clocks: DatabaseClocks
    private let meter: UsageMeter
    /// Takes a line for whoever runs the server.
    private let log: @Sendable (String) -> Void
    /// Of the projects that have no rules of their own; nil where everything is allowed.
    private var common: RulesInForce?
    /// By project, of those that were given rules of their own.
    private var own: [ByteString: RulesInForce] = [:]
    private(set) var requests = RulesRecord()
    /// Who wants each request as it is judged, by a number.
    private var readers: [Int: AsyncStream<JudgedRequest>.Continuation] = [:]
    private var lastReader = 0
    private var refusalLines: RefusalLines

    /// Projects that may have rules of their own.
    static let maxProjects = 1_000

    init(
        _ clocks: DatabaseClocks, _ meter: UsageMeter, log: @escaping @Sendable (String) -> Void
    ) {
        self.log = log
        self.clocks = clocks
        self.meter = meter
        refusalLines = RefusalLines(log)
    }

    // MARK: In force

    /// Puts rules in force for every project, or none with nil.
    func set(_ settings: RulesSettings?) {
        own = [:]
        common = settings.map { RulesInForce($0) }
    }

    /// Puts rules in force for one project.
    ///
    /// - Returns: False where too many projects have rules of their own.
    func set(_ settings: RulesSettings, of project: String) -> Bool {
        let key = ByteString(project)
        if own[key] == nil, own.count >= Self.maxProjects { return false }
        own[key] = RulesInForce(settings)
        return true
    }

    /// - Parameter project: Nil for those that have no rules of their own.
    func settings(of project: String?) -> RulesSettings? { inForce(project)?.settings }

    /// - Parameter project: Nil for those that have no rules of their own.
    func coverage(of project: String?) -> RulesCoverage? { inForce(project)?.coverage }

    private func inForce(_ project: String?) -> RulesInForce? {
        if own.isEmpty { return common }
        return project.flatMap { own[ByteString($0)] } ?? common
    }

    /// True where the rules are asked about calls to a database.
    func areInForce(in database: DatabaseID) -> Bool { inForce(database.project) != nil }

    func clearRecord() {
        requests.clear()
        common?.clearCoverage()
        for key in own.keys { own[key]?.clearCoverage() }
    }

    // MARK: Questions of calls

    /// Asks the rules about a request that reads.
    ///
    /// - Parameter scope: What the answer is made of: what is returned is what was judged.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(_ request: Request, _ context: CallContext, _ scope: ReadScope) throws {
        var operations = 1
        if case .batchGetDocuments(let request) = request { operations = request.paths.count }
        guard var gate = try gate(context, ScopedDocuments(scope), operations) else { return }
        // What was read for an answer of no is billed, too.
        defer { finish(gate, request.method, context) }
        switch request {
        case .getDocument(let request): try gate.check(get: request.path)
        case .batchGetDocuments(let request):
            for path in request.paths { try gate.check(get: path) }
        case .runQuery(let request): try gate.check(request.query)
        case .runAggregationQuery(let request): try gate.check(request.query)
        case .listDocuments(let request):
            try gate.check(
                Query(
                    parent: request.parent, collectionID: request.collectionID,
                    orders: request.orders))
        case .listCollectionIDs, .partitionQuery: try gate.refuseOthers()
        case .beginTransaction, .rollback, .commit, .createDocument, .updateDocument,
            .deleteDocument, .batchWrite:
            break
        }
    }

    /// Asks the rules about a listen's target.
    ///
    /// - Parameter documents: As they are for what the target is about to be told.
    /// - Returns: Which documents the rules have read: the answer may be another when one changes. None
    ///   where the rules are not asked.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ kind: ListenTarget.Kind, _ context: CallContext, _ documents: any RulesDatabase,
        bill: (Int) -> Void
    ) throws -> Set<DocumentPath> {
        var operations = 1
        if case .documents(let paths) = kind { operations = paths.count }
        guard var gate = try gate(context, documents, operations) else { return [] }
        defer {
            bill(gate.reads)
            finish(gate, .listen, context)
        }
        switch kind {
        case .query(let query): try gate.check(query)
        case .documents(let paths): for path in paths { try gate.check(get: path) }
        }
        return gate.documentsRead(in: context.database)
    }

    /// Asks the rules about the writes of a commit.
    ///
    /// - Parameter bill: Called with how many documents the rules have read, also when they refuse.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ mutations: [Mutation], _ context: CallContext, _ requestTime: Timestamp,
        _ transaction: StoreTransaction, bill: (Int) -> Void
    ) throws {
        guard let settings = settings(of: context.database.project), !context.isUnbilled,
            var gate = try RulesGate(
                settings, context, at: requestTime,
                of: StoredDocuments(transaction.documents(of: context.database)),
                operations: mutations.count)
        else { return }
        defer {
            bill(gate.reads)
            note(gate, context)
        }
        try gate.check(mutations)
    }

    /// - Returns: Nil for whom rules are not asked about: administrators, and the server's own calls.
    private func gate(
        _ context: CallContext, _ documents: any RulesDatabase, _ operations: Int
    ) throws(RPCStatus) -> RulesGate? {
        guard !context.isUnbilled, let settings = settings(of: context.database.project) else {
            return nil
        }
        return try RulesGate(
            settings, context, at: clocks.now, of: documents, operations: operations)
    }

    private func finish(_ gate: RulesGate, _ method: RPCMethod, _ context: CallContext) {
        meter.countReads(gate.reads, by: method, context, on: MeterDetail.ofRules)
        note(gate, context)
    }

    private func note(_ gate: RulesGate, _ context: CallContext) {
        let project = context.database.project
        guard let settings = settings(of: project), settings.isRecorded else { return }
        let time = clocks.now
        for judgement in gate.judgements {
            let request = requests.note(judgement, context, at: time, settings.rules.source)
            noteCoverage(judgement, of: project)
            for reader in readers.values { reader.yield(request) }
            for line in judgement.debugLines(of: settings.rules) { log("rules: " + line) }
            if !request.isAllowed, settings.errors == .production {
                refusalLines.note(request, at: time)
            }
        }
    }

    private func noteCoverage(_ judgement: RulesJudgement, of project: String) {
        let key = ByteString(project)
        if own[key] != nil {
            own[key]!.coverage?.note(judgement)
        } else {
            common?.coverage?.note(judgement)
        }
    }
}

// MARK: Those who watch

extension RulesChecks {
    /// - Returns: A number, for ``removeReader(_:)``.
    func addReader(_ reader: AsyncStream<JudgedRequest>.Continuation) -> Int {
        lastReader += 1
        readers[lastReader] = reader
        return lastReader
    }

    func removeReader(_ number: Int) { readers[number] = nil }
}

// MARK: Questions beside the calls

extension RulesChecks {
    /// What the rules say to a question, for those who want to know. Nothing is recorded or billed.
    ///
    /// - Parameter rules: Others than those in force; nil for these.
    /// - Returns: Nil where there are no rules.
    func judge(
        _ question: RulesQuestion, as caller: RulesCaller?, in database: DatabaseID,
        under rules: Ruleset?, _ transaction: StoreTransaction
    ) throws -> (judgements: [RulesJudgement], reads: Int, source: SourceText)? {
        guard let rules = rules ?? settings(of: database.project)?.rules else { return nil }
        let requestTime = Timestamp(milliseconds: clocks.now.milliseconds)
        var judge = RulesJudge(
            rules, as: caller, at: requestTime, in: database.database,
            of: StoredDocuments(transaction.documents(of: database)),
            operations: question.operations, tracing: .always)
        let judgements = try judge.judge(question)
        return (judgements, judge.reads.count, rules.source)
    }

    /// Returns the decision of other rules about a request; nil if they decide as it was decided,
    /// or if the request's project has rules of its own.
    func flip(
        of request: JudgedRequest, under rules: Ruleset, _ transaction: StoreTransaction
    ) -> RulesFlip? {
        guard let judgement = request.judgement,
            own[ByteString(request.database.project)] == nil
        else { return nil }
        let documents = StoredDocuments(transaction.documents(of: request.database))
        let decision = judgement.again(under: rules, reading: documents)
        if decision.isAllowed == request.isAllowed { return nil }
        return RulesFlip(
            request: request, isAllowed: decision.isAllowed,
            reason: decision.reason(in: rules.source))
    }
}
