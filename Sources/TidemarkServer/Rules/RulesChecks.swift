import TidemarkModel
import TidemarkRules
import TidemarkStore

/// The security rules in force, and who asks them: reads, listens' targets and commits.
final class RulesChecks {
    private let clocks: DatabaseClocks
    private let meter: UsageMeter
    /// Nil where everything is allowed.
    private var settings: RulesSettings?

    init(_ clocks: DatabaseClocks, _ meter: UsageMeter) {
        self.clocks = clocks
        self.meter = meter
    }

    /// What the meter counts the reads of rules under: no collection has a name like that.
    static let target = "(rules)"

    func set(_ settings: RulesSettings?) { self.settings = settings }

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
        defer { bill(gate, request.method, context) }
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
        defer { bill(gate, .listen, context) }
        switch kind {
        case .query(let query): try gate.check(query)
        case .documents(let paths): for path in paths { try gate.check(get: path) }
        }
    }

    /// Asks the rules about the writes of a commit.
    ///
    /// - Parameter bill: Called with what the rules have read, also when the answer is no.
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func check(
        _ mutations: [Mutation], _ context: CallContext, _ requestTime: Timestamp,
        _ transaction: StoreTransaction, bill: (Int) -> Void
    ) throws {
        guard let settings, !context.isUnbilled,
            var gate = try RulesGate(
                settings, context, at: requestTime, transaction, operations: mutations.count)
        else { return }
        defer { bill(gate.reads.count) }
        try gate.check(mutations, requestTime)
    }

    /// - Returns: Nil for whom rules are not asked about: administrators, and the server's own calls.
    private func gate(
        _ context: CallContext, _ transaction: StoreTransaction, _ operations: Int
    ) throws(RPCStatus) -> RulesGate? {
        guard let settings, !context.isUnbilled else { return nil }
        return try RulesGate(
            settings, context, at: clocks.now, transaction, operations: operations)
    }

    private func bill(_ gate: RulesGate, _ method: RPCMethod, _ context: CallContext) {
        meter.countReads(gate.reads.count, by: method, context, on: Self.target)
    }
}
