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
        do {
            try reply(id, to: request, context, transaction, &outputs)
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
            // Its caller will never hear of it.
            if let begun { endTransaction(begun, .rolledBack) }
        }
        outputs.append(Output(id: id, event: .ended(status)))
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
            try request.query.validate()
            meter.countReads(1, by: .partitionQuery, label: context.label)
            // No split points: the one partition is the whole, which is always right.
            outputs.append(id, .partitionQuery([], nextPageToken: ""))
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
        let scope = try scope(request.consistency, context.database, transaction)
        let document = try scope.document(at: request.path)
        record(scope, request.path, document)
        // A document that is missing was looked up all the same, and is billed.
        meter.countReads(1, by: .getDocument, label: context.label)
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
        meter.countReads(seen.count, by: .batchGetDocuments, label: context.label)
        var results = found + missing
        if results.isEmpty, scope.begun != nil {
            results.append(BatchGetResult(row: nil, readTime: scope.readTime))
        }
        if !results.isEmpty { results[0].transaction = scope.begun }
        for result in results { outputs.append(id, .batchGetDocuments(result)) }
    }

    /// The rows go out as they are stored; only a projection decodes them.
    private func runQuery(
        _ id: CallID, _ request: RunQueryRequest, _ context: CallContext,
        _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) throws {
        let query = request.query
        try query.validate()
        let scope = try scope(request.consistency, context.database, transaction)
        if let begun = scope.begun {
            outputs.append(id, .runQuery(RunQueryReply(transaction: begun)))
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
        } else if totals.returned == 0 {
            outputs.append(id, .runQuery(RunQueryReply(readTime: scope.readTime)))
        }
        meter.countReads(
            max(1, totals.returned + totals.skipped), by: .runQuery, label: context.label)
    }

    func record(_ scope: ReadScope, _ query: Query, _ rows: [(DocumentPath, Document)]) {
        guard let recorder = scope.recorder else { return }
        transactions.record(recorder, query, readTime: scope.readTime)
        for (path, document) in rows {
            transactions.record(recorder, path, version: document.updateTime)
        }
    }
}

extension [Output] {
    mutating func append(_ id: CallID, _ reply: Reply) {
        append(Output(id: id, event: .reply(reply)))
    }
}
