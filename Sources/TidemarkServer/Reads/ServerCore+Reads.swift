import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// Answers a call that reads.
    func answer(
        _ id: CallID, _ request: Request, _ context: CallContext, _ transaction: StoreTransaction,
        _ outputs: inout [Output]
    ) {
        var status = RPCStatus.ok
        let start = outputs.count
        let before = meter.total
        do {
            try checkRules(request, context, transaction)
            try reply(id, to: request, context, transaction, &outputs)
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
            // Its caller will never hear of it.
            if let begun { endTransaction(begun, .rolledBack) }
        }
        endPart(id, status, meter.total - before, context, &outputs)
    }

    private func reply(
        _ id: CallID, to request: Request, _ context: CallContext,
        _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) throws {
        let database = context.database
        switch request {
        case .getDocument(let request):
            outputs.append(id, .document(try get(request, context, transaction)))
        case .batchGetDocuments(let request):
            try batchGet(id, request, context, transaction, &outputs)
        case .runQuery(let request): try runQuery(id, request, context, transaction, &outputs)
        case .runAggregationQuery(let request):
            let reply = try aggregate(request, context, transaction)
            outputs.append(id, .runAggregationQuery(reply))
        case .listDocuments(let request):
            outputs.append(id, try listDocuments(request, context, transaction))
        case .listCollectionIDs(let request):
            outputs.append(id, try listCollectionIDs(request, context, transaction))
        case .partitionQuery(let request):
            outputs.append(id, try partition(request, context, transaction))
        case .beginTransaction(let options):
            outputs.append(id, .beginTransaction(try beginTransaction(options, database)))
        case .rollback(let transactionID):
            try transactions.rollback(transactionID, database: database, now: now)
            releaseLocks(of: transactionID)
            outputs.append(id, .empty)
        case .commit, .createDocument, .updateDocument, .deleteDocument, .batchWrite:
            throw RPCStatus(.internal, "A write was taken for a read.")
        }
    }

    private func get(
        _ request: GetDocumentRequest, _ context: CallContext, _ transaction: StoreTransaction
    ) throws -> Document {
        try request.mask?.validateAsMask()
        let scope = try scope(request.consistency, context.database, transaction)
        let document = try scope.document(at: request.path)
        record(scope, request.path, document)
        let reads = configuration.billing.lookups(
            found: document == nil ? 0 : 1, missing: document == nil ? 1 : 0)
        meter.countReads(reads, by: .getDocument, context, on: request.path.parent.text)
        guard let document else {
            let name = request.path.name(in: context.database)
            throw RPCStatus(.notFound, "Document \"\(name)\" not found.")
        }
        return document.projected(to: request.mask)
    }

    func record(_ scope: ReadScope, _ path: DocumentPath, _ document: Document?) {
        if let recorder = scope.recorder {
            transactions.record(recorder, path, version: document?.updateTime)
        }
    }

    /// Found documents first, then missing ones; a path asked twice is answered once.
    private func batchGet(
        _ id: CallID, _ request: BatchGetDocumentsRequest, _ context: CallContext,
        _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) throws {
        try request.mask?.validateAsMask()
        let scope = try scope(request.consistency, context.database, transaction)
        var seen: Set<DocumentPath> = []
        var paths: [DocumentPath] = []
        var lookups = Lookups()
        for path in request.paths {
            if seen.insert(path).inserted { paths.append(path) } else { lookups.repeated(path) }
        }
        bill(lookups, context)
        if scope.recorder != nil {
            // All of it is read now, whenever it is sent.
            for path in paths { record(scope, path, try scope.document(at: path)) }
        }
        var rest = UnfinishedAnswer.Batch(paths: paths[...], mask: request.mask)
        let start = outputs.count
        let isWhole = try sendPart(of: &rest, scope, id, context, &outputs)
        if outputs.count == start, scope.begun != nil {
            outputs.append(
                id, .batchGetDocuments(BatchGetResult(row: nil, readTime: scope.readTime)))
        }
        if let begun = scope.begun,
            case .reply(.batchGetDocuments(var first)) = outputs[start].event
        {
            first.transaction = begun
            outputs[start] = Output(id: id, event: .reply(.batchGetDocuments(first)))
        }
        if !isWhole { try wait(id, for: .batch(rest), scope, context) }
    }

    /// The rows go out as they are stored; only a projection decodes them.
    private func runQuery(
        _ id: CallID, _ request: RunQueryRequest, _ context: CallContext,
        _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) throws {
        let query = request.query
        try query.validate()
        let explanation = try admit(query, [], request.explain, in: context.database)
        let scope = try scope(request.consistency, context.database, transaction)
        if let begun = scope.begun {
            outputs.append(id, .runQuery(RunQueryReply(transaction: begun)))
        }
        if let explanation, !explanation.isAnalyzed {
            meter.countReads(
                Billing.withoutDocuments, by: .runQuery, context, on: query.meterTarget)
            return outputs.append(id, .runQuery(RunQueryReply(explain: explanation.plan)))
        }
        let start = outputs.count
        let (totals, rest) = try sendPart(of: query, scope, id, &outputs)
        if query.offset > 0 {
            let skipped = RunQueryReply(readTime: scope.readTime, skippedResults: totals.skipped)
            outputs.insert(Output(id: id, event: .reply(.runQuery(skipped))), at: start)
        } else if totals.returned == 0, explanation == nil {
            outputs.append(id, .runQuery(RunQueryReply(readTime: scope.readTime)))
        }
        var rows = UnfinishedAnswer.Rows(query: query, explanation: explanation)
        rows.add(totals)
        bill(&rows, context)
        if let rest {
            try wait(id, for: .query(rows, rest), scope, context)
        } else {
            explain(rows, scope, id, &outputs)
        }
    }

    func record(_ scope: ReadScope, _ query: Query, _ rows: [(DocumentPath, Document)]) {
        guard let recorder = scope.recorder else { return }
        transactions.record(recorder, query, readTime: scope.readTime)
        for (path, document) in rows {
            transactions.record(recorder, path, version: document.updateTime)
        }
    }
}

extension RPCStatus {
    /// In calls and targets other than RunQuery. Production's text was not seen.
    static let noVectorSearchHere = RPCStatus.invalidArgument(
        "FindNearest can only be used in RunQuery.")
}

extension [Output] {
    mutating func append(_ id: CallID, _ reply: Reply) {
        append(Output(id: id, event: .reply(reply)))
    }
}
