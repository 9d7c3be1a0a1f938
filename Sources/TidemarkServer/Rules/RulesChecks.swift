import TidemarkModel
import TidemarkRules
import TidemarkStore

/// The security rules in force. Reads, targets of listens, and commits are checked here.
///
/// All projects share the same rules, and a database's id may have rules of its own. The rules of a
/// project precede both.
final class RulesChecks {
    private let clocks: DatabaseClocks
    private let meter: UsageMeter
    /// Takes a line for the server's operator.
    private let log: @Sendable (String) -> Void
    /// The rules of projects without their own rules, by database; nil if every call is allowed.
    private var common = ByDatabase<RulesInForce?>(nil)
    /// The rules of projects with their own rules, by project.
    private var own: [ByteString: RulesInForce] = [:]
    private(set) var requests = RulesRecord()
    /// The readers of judged requests, by number.
    private var readers: [Int: AsyncStream<JudgedRequest>.Continuation] = [:]
    private var lastReader = 0
    private var refusalLines: RefusalLines

    /// The maximum number of projects with their own rules.
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

    /// Puts rules in force for every project; nil removes all rules.
    func set(_ settings: RulesSettings?) {
        own = [:]
        common = ByDatabase(settings.map { RulesInForce($0) })
    }

    /// Puts rules in force for some databases of every project; nil allows every call to them.
    ///
    /// - Returns: False if too many databases have their own rules.
    func set(_ settings: RulesSettings?, of scope: DatabaseScope) -> Bool {
        guard common.set(settings.map { RulesInForce($0) }, of: scope) else { return false }
        own = [:]
        return true
    }

    /// Puts rules in force for one project.
    ///
    /// - Returns: False if too many projects have their own rules.
    func set(_ settings: RulesSettings, of project: String) -> Bool {
        let key = ByteString(project)
        if own[key] == nil, own.count >= Self.maxProjects { return false }
        own[key] = RulesInForce(settings)
        return true
    }

    /// - Parameters:
    ///   - project: The project; nil for the projects without their own rules.
    ///   - database: The id of the database; nil for the databases without their own rules.
    func inForce(_ project: String?, database: String?) -> RulesInForce? {
        if !own.isEmpty, let project, let rules = own[ByteString(project)] { return rules }
        return database.map { common[$0] } ?? common.others
    }

    private func settings(of database: DatabaseID) -> RulesSettings? {
        inForce(database.project, database: database.database)?.settings
    }

    /// Returns true if rules apply to calls to a database.
    func areInForce(in database: DatabaseID) -> Bool { settings(of: database) != nil }

    func clearRecord() {
        requests.clear()
        common.updateAll { $0?.clearCoverage() }
        for key in own.keys { own[key]?.clearCoverage() }
    }

    // MARK: Checks of calls

    /// Checks the rules for a reading request.
    ///
    /// - Parameter scope: The scope from which the request is answered: the rules judge the data
    ///   that are returned.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(_ request: Request, context: CallContext, scope: ReadScope) throws {
        var operations = 1
        if case .batchGetDocuments(let request) = request { operations = request.paths.count }
        guard
            var gate = try gate(context, documents: ScopedDocuments(scope), operations: operations)
        else { return }
        // The reads of the rules are billed even if the request is refused.
        defer { finish(gate, method: request.method, context: context) }
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
        // A pipeline is checked in its admitted form.
        case .beginTransaction, .rollback, .commit, .createDocument, .updateDocument,
            .deleteDocument, .batchWrite, .executePipeline:
            break
        }
    }

    /// Checks the rules for every source of a pipeline that reads.
    ///
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(_ pipeline: AdmittedPipeline, context: CallContext, scope: ReadScope) throws {
        let operations = pipeline.judgedOperations
        guard
            var gate = try gate(context, documents: ScopedDocuments(scope), operations: operations)
        else { return }
        defer { finish(gate, method: .executePipeline, context: context) }
        try gate.check(pipeline)
    }

    /// Refuses a pipeline that changes documents to every caller to whom rules apply.
    ///
    /// - Throws: ``RPCStatus`` `permissionDenied`.
    func refuseWritingPipeline(
        _ context: CallContext, _ scope: ReadScope
    ) throws(RPCStatus) {
        try gate(context, documents: ScopedDocuments(scope), operations: 1)?.refuseWrites()
    }

    /// Checks the rules for a target of a listen.
    ///
    /// - Parameter documents: The documents in the state that the target will receive.
    /// - Returns: The documents that the rules have read; if one of them changes, the decision can
    ///   change. Empty if no rules apply.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ kind: ListenTarget.Kind, context: CallContext, documents: any RulesDatabase,
        bill: (Int) -> Void
    ) throws -> Set<DocumentPath> {
        var operations = 1
        if case .documents(let paths) = kind { operations = paths.count }
        guard var gate = try gate(context, documents: documents, operations: operations) else {
            return []
        }
        defer {
            bill(gate.reads)
            finish(gate, method: .listen, context: context)
        }
        switch kind {
        case .query(let query): try gate.check(query)
        case .documents(let paths): for path in paths { try gate.check(get: path) }
        }
        return gate.documentsRead(in: context.database)
    }

    /// Checks the rules for the writes of a commit.
    ///
    /// - Parameter bill: Called with the number of documents that the rules have read, also after a
    ///   refusal.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ mutations: [Mutation], context: CallContext, requestTime: Timestamp,
        transaction: StoreTransaction, bill: (Int) -> Void
    ) throws {
        guard let settings = settings(of: context.database), !context.isUnbilled,
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

    /// - Returns: The gate; nil if no rules apply to the caller: to administrators, and to the
    ///   server's own calls.
    private func gate(
        _ context: CallContext, documents: any RulesDatabase, operations: Int
    ) throws(RPCStatus) -> RulesGate? {
        guard !context.isUnbilled, let settings = settings(of: context.database) else {
            return nil
        }
        return try RulesGate(
            settings, context, at: clocks.now, of: documents, operations: operations)
    }

    private func finish(_ gate: RulesGate, method: RPCMethod, context: CallContext) {
        meter.countReads(gate.reads, by: method, context, on: MeterDetail.ofRules)
        note(gate, context)
    }

    private func note(_ gate: RulesGate, _ context: CallContext) {
        guard let settings = settings(of: context.database), settings.isRecorded else { return }
        let time = clocks.now
        for judgement in gate.judgements {
            let request = requests.note(
                judgement, context: context, at: time, source: settings.rules.source)
            noteCoverage(judgement, of: context.database)
            for reader in readers.values { reader.yield(request) }
            for line in judgement.debugLines(of: settings.rules) { log("rules: " + line) }
            if !request.isAllowed, settings.errors == .production {
                refusalLines.note(request, at: time)
            }
        }
    }

    private func noteCoverage(_ judgement: RulesJudgement, of database: DatabaseID) {
        let key = ByteString(database.project)
        if own[key] != nil {
            own[key]!.coverage?.note(judgement)
        } else {
            common.update(database.database) { $0?.coverage?.note(judgement) }
        }
    }
}

// MARK: Readers of judged requests

extension RulesChecks {
    /// - Returns: The number of the reader, for ``removeReader(_:)``.
    func addReader(_ reader: AsyncStream<JudgedRequest>.Continuation) -> Int {
        lastReader += 1
        readers[lastReader] = reader
        return lastReader
    }

    func removeReader(_ number: Int) { readers[number] = nil }
}

// MARK: Questions without a call

extension RulesChecks {
    /// Returns the decision of the rules on a question. Nothing is recorded or billed.
    ///
    /// - Parameter rules: The rules to ask; nil asks the rules in force.
    /// - Returns: The judgements; nil if there are no rules.
    func judge(
        _ question: RulesQuestion, as caller: RulesCaller?, in database: DatabaseID,
        under rules: Ruleset?, _ transaction: StoreTransaction
    ) throws -> (judgements: [RulesJudgement], reads: Int, source: SourceText)? {
        guard let rules = rules ?? settings(of: database)?.rules else { return nil }
        let requestTime = Timestamp(milliseconds: clocks.now.milliseconds)
        var judge = RulesJudge(
            rules, as: caller, at: requestTime, in: database.database,
            of: StoredDocuments(transaction.documents(of: database)),
            operations: question.operations, tracing: .always)
        let judgements = try judge.judge(question)
        return (judgements, judge.reads.count, rules.source)
    }

    /// Returns the decision of other rules on a request; nil if the decision is the same, or if the
    /// request's project or database has other rules in force.
    ///
    /// - Parameter database: The id of the database whose rules would be replaced; nil for the
    ///   databases without their own rules.
    func flip(
        of request: JudgedRequest, under rules: Ruleset, database: String?,
        _ transaction: StoreTransaction
    ) -> RulesFlip? {
        guard let judgement = request.judgement,
            own[ByteString(request.database.project)] == nil,
            common.scope(of: request.database.database)
                == database.map(common.scope) ?? .others
        else { return nil }
        let documents = StoredDocuments(transaction.documents(of: request.database))
        let decision = judgement.again(under: rules, reading: documents)
        if decision.isAllowed == request.isAllowed { return nil }
        return RulesFlip(
            request: request, isAllowed: decision.isAllowed,
            reason: decision.reason(in: rules.source))
    }
}
