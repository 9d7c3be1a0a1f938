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
            try reply(id, to: request, context, transaction, &outputs)
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
            // Its caller will never hear of it.
            if let begun { endTransaction(begun, .rolledBack) }
        }
        let ending = status.reporting(meter.total - before, to: context)
        outputs.append(Output(id: id, event: .ended(ending)))
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
        var found: [BatchGetResult] = []
        var missing: [BatchGetResult] = []
        for path in request.paths where seen.insert(path).inserted {
            let document = try scope.document(at: path)
            record(scope, path, document)
            if let document {
                let row = BatchGetResult.Row.found(document.projected(to: request.mask))
                found.append(BatchGetResult(row: row, readTime: scope.readTime))
            } else {
                missing.append(BatchGetResult(row: .missing(path), readTime: scope.readTime))
            }
        }
        bill(request.paths, found, missing, context)
        var results = found + missing
        if results.isEmpty, scope.begun != nil {
            results.append(BatchGetResult(row: nil, readTime: scope.readTime))
        }
        if !results.isEmpty { results[0].transaction = scope.begun }
        for result in results { outputs.append(id, .batchGetDocuments(result)) }
    }

    private func bill(
        _ asked: [DocumentPath], _ found: [BatchGetResult], _ missing: [BatchGetResult],
        _ context: CallContext
    ) {
        var counts: [CollectionPath: (found: Int, missing: Int, repeated: Int)] = [:]
        for path in asked { counts[path.parent, default: (0, 0, 0)].repeated += 1 }
        for result in found + missing {
            switch result.row {
            case .found(let document): counts[document.path.parent]?.found += 1
            case .missing(let path): counts[path.parent]?.missing += 1
            case nil: break
            }
        }
        for (collection, count) in counts {
            let reads = configuration.billing.lookups(
                found: count.found, missing: count.missing,
                repeated: count.repeated - count.found - count.missing)
            meter.countReads(reads, by: .batchGetDocuments, context, on: collection.text)
        }
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
        var paths: [(DocumentPath, Document)] = []
        let totals = try scope.run(query) { document in
            if scope.recorder != nil { paths.append((document.path, document)) }
            outputs.append(
                id,
                .runQuery(
                    RunQueryReply(
                        document: document.projected(to: query.projection),
                        readTime: scope.readTime)))
            return true
        }
        record(scope, query, paths)
        if query.offset > 0 {
            let skipped = RunQueryReply(readTime: scope.readTime, skippedResults: totals.skipped)
            outputs.insert(Output(id: id, event: .reply(.runQuery(skipped))), at: start)
        } else if totals.returned == 0, explanation == nil {
            outputs.append(id, .runQuery(RunQueryReply(readTime: scope.readTime)))
        }
        let reads =
            query.findNearest == nil
            ? Billing.reads(
                of: query, returned: totals.returned, skipped: totals.skipped,
                entriesScanned: totals.scanned)
            : Billing.nearest(vectorEntries: totals.vectorEntries, returned: totals.returned)
        meter.countReads(reads, by: .runQuery, context, on: query.meterTarget)
        if let explanation {
            let counters = Explanation.counters(of: query, totals, reads: reads)
            let metrics = explanation.metrics(counters, end: environment.ticks())
            outputs.append(
                id, .runQuery(RunQueryReply(readTime: scope.readTime, explain: metrics)))
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
