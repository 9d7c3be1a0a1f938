import TidemarkModel
import TidemarkRules
import TidemarkStore

extension ServerCore {
    /// Asks the rules about a request that reads.
    ///
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func checkRules(
        _ request: Request, _ context: CallContext, _ transaction: StoreTransaction
    ) throws {
        var operations = 1
        if case .batchGetDocuments(let request) = request { operations = request.paths.count }
        guard let rules,
            var gate = try RulesGate(rules, context, at: now, transaction, operations: operations)
        else { return }
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
    func checkRules(
        _ kind: ListenTarget.Kind, _ context: CallContext, _ transaction: StoreTransaction
    ) throws {
        var operations = 1
        if case .documents(let paths) = kind { operations = paths.count }
        guard let rules,
            var gate = try RulesGate(rules, context, at: now, transaction, operations: operations)
        else { return }
        defer { bill(gate, .listen, context) }
        switch kind {
        case .query(let query): try gate.check(query)
        case .documents(let paths): for path in paths { try gate.check(get: path) }
        }
    }

    private func bill(_ gate: RulesGate, _ method: RPCMethod, _ context: CallContext) {
        meter.countReads(gate.reads.count, by: method, context, on: Self.rulesTarget)
    }

    /// What the meter counts the reads of rules under: no collection has a name like that.
    static let rulesTarget = "(rules)"

    /// Asks the rules again about every listen, and ends those that are refused now.
    func judgeListensAgain() throws(StoreError) -> [Output] {
        var outputs: [Output] = []
        let streams = listens.streamIDs.sorted()
        do {
            try store.read { transaction in
                for id in streams {
                    guard let stream = listens.streams[id] else { continue }
                    for target in stream.targets.values.sorted(by: { $0.id < $1.id }) {
                        judge(target, stream.context, transaction, &outputs)
                    }
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(detail: "\(error)")
        }
        return outputs
    }

    private func judge(
        _ target: LiveTarget, _ context: CallContext, _ transaction: StoreTransaction,
        _ outputs: inout [Output]
    ) {
        do {
            try checkRules(target.kind, context, transaction)
        } catch {
            let change = TargetChange(
                .remove, targetIDs: [target.id], cause: RPCStatus(storeFailure: error))
            removeTarget(target.id, target.streamID, cause: change, &outputs)
        }
    }

    private func removeTarget(
        _ id: Int32, _ streamID: CallID, cause: TargetChange, _ outputs: inout [Output]
    ) {
        listens.remove(id, of: streamID)
        listens.update(streamID) { $0.lag?.remove(id) }
        outputs.append(streamID, .targetChange(cause))
    }
}

extension WriteStage {
    /// Asks the rules about the writes of a commit.
    ///
    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    func checkRules(
        _ mutations: [Mutation], _ context: CallContext, _ requestTime: Timestamp,
        _ transaction: StoreTransaction
    ) throws {
        guard let rules = core.rules,
            var gate = try RulesGate(
                rules, context, at: requestTime, transaction, operations: mutations.count)
        else { return }
        defer {
            if gate.reads.count > 0 {
                bills.append(
                    Bill(
                        context: context, method: method,
                        collection: CollectionPath(unchecked: ServerCore.rulesTarget),
                        usage: Usage(reads: gate.reads.count)))
            }
        }
        try gate.check(mutations, requestTime)
    }
}
