import TidemarkModel
import TidemarkRules
import TidemarkStore

/// The security rules in force, and who asks them: reads, listens' targets and commits.
final class RulesChecks {
    private let clocks: DatabaseClocks
    private let meter: UsageMeter
    /// Takes a line for whoever runs the server.
    private let log: @Sendable (String) -> Void
    /// Nil where everything is allowed.
    private(set) var settings: RulesSettings?
    /// Nil where nothing is recorded.
    private(set) var record: RulesRecord?
    /// Who wants each request as it is judged, by a number.
    private var readers: [Int: AsyncStream<JudgedRequest>.Continuation] = [:]
    private var lastReader = 0

    init(
        _ clocks: DatabaseClocks, _ meter: UsageMeter, log: @escaping @Sendable (String) -> Void
    ) {
        self.log = log
        self.clocks = clocks
        self.meter = meter
    }

    func set(_ settings: RulesSettings?) {
        self.settings = settings
        record = settings.flatMap {
            $0.isRecorded ? RulesRecord(of: $0.rules, after: record) : nil
        }
    }

    func clearRecord() {
        if let settings { record?.clear(settings.rules) }
    }

    /// Asks the rules about a request that reads.
    ///
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ request: Request, _ context: CallContext, _ transaction: StoreTransaction
    ) throws {
        guard settings != nil else { return }
        var operations = 1
        if case .batchGetDocuments(let request) = request { operations = request.paths.count }
        guard var gate = try gate(context, transaction, operations) else { return }
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
    func check(
        _ kind: ListenTarget.Kind, _ context: CallContext, _ transaction: StoreTransaction
    ) throws {
        guard settings != nil else { return }
        var operations = 1
        if case .documents(let paths) = kind { operations = paths.count }
        guard var gate = try gate(context, transaction, operations) else { return }
        defer { finish(gate, .listen, context) }
        switch kind {
        case .query(let query): try gate.check(query)
        case .documents(let paths): for path in paths { try gate.check(get: path) }
        }
    }

    /// Asks the rules about the writes of a commit.
    ///
    /// - Parameter bill: Called with how many documents the rules have read, also when they refuse.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ mutations: [Mutation], _ context: CallContext, _ requestTime: Timestamp,
        _ transaction: StoreTransaction, bill: (Int) -> Void
    ) throws {
        guard let settings, !context.isUnbilled,
            var gate = try RulesGate(
                settings, context, at: requestTime, transaction, operations: mutations.count)
        else { return }
        defer {
            bill(gate.reads)
            note(gate, context)
        }
        try gate.check(mutations)
    }

    /// - Returns: Nil for whom rules are not asked about: administrators, and the server's own calls.
    private func gate(
        _ context: CallContext, _ transaction: StoreTransaction, _ operations: Int
    ) throws(RPCStatus) -> RulesGate? {
        guard let settings, !context.isUnbilled else { return nil }
        return try RulesGate(
            settings, context, at: clocks.now, transaction, operations: operations)
    }

    private func finish(_ gate: RulesGate, _ method: RPCMethod, _ context: CallContext) {
        meter.countReads(gate.reads, by: method, context, on: MeterDetail.ofRules)
        note(gate, context)
    }

    private func note(_ gate: RulesGate, _ context: CallContext) {
        guard let rules = settings?.rules else { return }
        for judgement in gate.judgements {
            if let request = record?.note(judgement, context, at: clocks.now) {
                for reader in readers.values { reader.yield(request) }
            }
            for line in judgement.debugLines(of: rules) { log("rules: " + line) }
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
        guard let rules = rules ?? settings?.rules else { return nil }
        let requestTime = Timestamp(milliseconds: clocks.now.milliseconds)
        var judge = RulesJudge(
            rules, as: caller, at: requestTime, in: database.database,
            of: StoredDocuments(transaction.documents(of: database)),
            operations: question.operations, tracing: .always)
        let judgements = try judge.judge(question)
        return (judgements, judge.reads.count, rules.source)
    }

    /// Which of the last requests other rules decide otherwise.
    func flips(under rules: Ruleset, _ transaction: StoreTransaction) -> [RulesFlip] {
        (record?.latest ?? []).compactMap { request in
            guard let judgement = request.judgement else { return nil }
            let documents = StoredDocuments(transaction.documents(of: request.database))
            let decision = judgement.again(under: rules, reading: documents)
            if decision.isAllowed == request.isAllowed { return nil }
            return RulesFlip(
                request: request, isAllowed: decision.isAllowed,
                reason: decision.reason(in: rules.source))
        }
    }
}
