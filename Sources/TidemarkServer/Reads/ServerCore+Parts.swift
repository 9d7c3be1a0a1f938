import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// Keeps the rest until the call's reader has room.
    func wait(
        _ id: CallID, for rest: UnfinishedAnswer.Rest, _ scope: ReadScope, _ context: CallContext
    ) throws(RPCStatus) {
        try unfinished.add(
            UnfinishedAnswer(context: context, readTime: scope.readTime, rest: rest), id)
    }

    /// Ends the call, or this part of its answer.
    ///
    /// - Parameter usage: What the call was billed for this part.
    func endPart(
        _ id: CallID, _ status: RPCStatus, _ usage: Usage, _ context: CallContext,
        _ outputs: inout [Output]
    ) {
        if unfinished.contains(id) {
            unfinished.addUsage(usage, id)
            outputs.append(Output(id: id, event: .unfinished))
        } else {
            outputs.append(Output(id: id, event: .ended(status.reporting(usage, to: context))))
        }
    }

    /// Sends the next part of an answer, and its end after the last one; or what a listen stream has
    /// missed.
    func proceed(_ id: CallID, _ transaction: StoreTransaction, _ outputs: inout [Output]) {
        // It may have been cancelled since.
        guard let answer = unfinished.remove(id) else {
            return catchUp(id, transaction, &outputs)
        }
        var status = RPCStatus.ok
        let start = outputs.count
        let before = meter.total
        do {
            let scope = try scope(continuing: answer, transaction)
            if let rest = try sendPart(of: answer, scope, id, &outputs) {
                try wait(id, for: rest, scope, answer.context)
            }
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
        }
        var usage = answer.usage
        usage += meter.total - before
        endPart(id, status, usage, answer.context, &outputs)
    }

    /// Where an answer goes on: at its own time, while the log reaches back to it.
    private func scope(
        continuing answer: UnfinishedAnswer, _ transaction: StoreTransaction
    ) throws(RPCStatus) -> ReadScope {
        let database = answer.context.database
        if answer.readTime.microseconds < databases[database]?.logStart ?? 0 {
            throw RPCStatus(
                .resourceExhausted,
                "The answer was read so slowly that what it is made of is no longer kept.")
        }
        return pastScope(answer.readTime, database, transaction)
    }

    private func sendPart(
        of answer: UnfinishedAnswer, _ scope: ReadScope, _ id: CallID, _ outputs: inout [Output]
    ) throws -> UnfinishedAnswer.Rest? {
        switch answer.rest {
        case .query(var rows, let left):
            let (totals, rest) = try readPart(of: left, scope) { document in
                outputs.append(id, .runQuery(Self.row(document, rows.query, scope)))
            }
            rows.add(totals)
            bill(&rows, answer.context)
            if rest == nil { explain(rows, scope, id, &outputs) }
            return rest.map { .query(rows, $0) }
        case .batch(var batch):
            let isWhole = try sendPart(of: &batch, scope, id, answer.context, &outputs)
            return isWhole ? nil : .batch(batch)
        }
    }

    /// Counts what the query's rows cost so far, as if they had been all.
    func bill(_ rows: inout UnfinishedAnswer.Rows, _ context: CallContext) {
        let totals = rows.totals
        let reads =
            rows.query.findNearest == nil
            ? Billing.reads(
                of: rows.query, returned: totals.returned, skipped: totals.skipped,
                entriesScanned: totals.scanned)
            : Billing.nearest(vectorEntries: totals.vectorEntries, returned: totals.returned)
        meter.countReads(
            reads - rows.billed, by: .runQuery, context, on: rows.query.meterTarget)
        rows.billed = reads
    }

    /// Says what the query took, after its last row, where that was asked.
    func explain(
        _ rows: UnfinishedAnswer.Rows, _ scope: ReadScope, _ id: CallID, _ outputs: inout [Output]
    ) {
        guard let explanation = rows.explanation else { return }
        let counters = Explanation.counters(of: rows.query, rows.totals, reads: rows.billed)
        let metrics = explanation.metrics(counters, end: environment.ticks())
        outputs.append(id, .runQuery(RunQueryReply(readTime: scope.readTime, explain: metrics)))
    }

    /// Sends the first rows of the query, as they are stored; only a projection decodes them.
    ///
    /// - Returns: What it took, all rows included that the caller is billed for now, and what is left.
    func sendPart(
        of query: Query, _ scope: ReadScope, _ id: CallID, _ outputs: inout [Output]
    ) throws -> (ReadScope.Totals, UnfinishedAnswer.Left?) {
        try readPart(of: .query(query), scope) { document in
            outputs.append(id, .runQuery(Self.row(document, query, scope)))
        }
    }

    /// Hands out as many rows as one part holds.
    ///
    /// - Returns: What it took, with all rows that it has found, and what is left.
    func readPart(
        of left: UnfinishedAnswer.Left, _ scope: ReadScope, _ give: (Document) -> Void
    ) throws -> (ReadScope.Totals, UnfinishedAnswer.Left?) {
        switch left {
        case .query(let query): return try readPart(of: query, scope, give)
        case .rows(var paths):
            var part = AnswerPart()
            while !part.isFull, let path = paths.popFirst() {
                guard let document = try scope.document(at: path) else { continue }
                part.add(document)
                give(document)
            }
            // They were counted when they were found.
            return (ReadScope.Totals(), paths.isEmpty ? nil : .rows(paths))
        }
    }

    private func readPart(
        of query: Query, _ scope: ReadScope, _ give: (Document) -> Void
    ) throws -> (ReadScope.Totals, UnfinishedAnswer.Left?) {
        var part = AnswerPart()
        var last: Document?
        var left: PathList?
        var goesOnByCursor = false
        var recorded: [(DocumentPath, Document)] = []
        let totals = try scope.run(query) { document in
            if scope.recorder != nil { recorded.append((document.path, document)) }
            if part.isFull, query.findNearest == nil {
                if left == nil {
                    goesOnByCursor = scope.canGoOnByCursor(query)
                    left = PathList()
                }
                if goesOnByCursor { return false }
                left?.append(document.path)
                return true
            }
            part.add(document)
            last = document
            give(document)
            return true
        }
        record(scope, query, recorded)
        guard let left, let last else { return (totals, nil) }
        if !goesOnByCursor { return (totals, .rows(left)) }
        var found = totals
        // The row that did not fit is the next part's first.
        found.returned -= 1
        return (found, .query(query.continued(after: last, rows: found.returned, scope)))
    }

    private static func row(
        _ document: Document, _ query: Query, _ scope: ReadScope
    ) -> RunQueryReply {
        RunQueryReply(
            document: document.projected(to: query.projection), readTime: scope.readTime)
    }

    /// - Returns: Whether that was all of it.
    func sendPart(
        of batch: inout UnfinishedAnswer.Batch, _ scope: ReadScope, _ id: CallID,
        _ context: CallContext, _ outputs: inout [Output]
    ) throws -> Bool {
        var part = AnswerPart()
        var lookups = Lookups()
        while !part.isFull, let path = batch.paths.popFirst() {
            guard let document = try scope.document(at: path) else {
                lookups.missed(path)
                batch.missing.append(path)
                continue
            }
            lookups.found(path)
            part.add(document)
            let row = BatchGetResult.Row.found(document.projected(to: batch.mask))
            outputs.append(
                id, .batchGetDocuments(BatchGetResult(row: row, readTime: scope.readTime)))
        }
        bill(lookups, context)
        guard batch.paths.isEmpty else { return false }
        while !part.isFull, let path = batch.missing.popFirst() {
            part.add(bytes: path.text.utf8.count)
            outputs.append(
                id,
                .batchGetDocuments(BatchGetResult(row: .missing(path), readTime: scope.readTime)))
        }
        return batch.missing.isEmpty
    }
}

/// How often names were looked up, by collection: to be billed.
struct Lookups {
    fileprivate var counts: [CollectionPath: (found: Int, missing: Int, repeated: Int)] = [:]

    mutating func found(_ path: DocumentPath) { counts[path.parent, default: (0, 0, 0)].found += 1 }
    mutating func missed(_ path: DocumentPath) {
        counts[path.parent, default: (0, 0, 0)].missing += 1
    }
    mutating func repeated(_ path: DocumentPath) {
        counts[path.parent, default: (0, 0, 0)].repeated += 1
    }
}

extension ServerCore {
    func bill(_ lookups: Lookups, _ context: CallContext) {
        for (collection, count) in lookups.counts {
            let reads = configuration.billing.lookups(
                found: count.found, missing: count.missing, repeated: count.repeated)
            meter.countReads(reads, by: .batchGetDocuments, context, on: collection.text)
        }
    }
}

extension ReadScope {
    /// Whether the rest of a query's rows is best found by asking for those after the last one. Not
    /// where each time all would be sorted, nor where changes would be undone again; not in a
    /// transaction, which reads all at once; and the last rows have no cursor.
    func canGoOnByCursor(_ query: Query) -> Bool {
        if isPast || recorder != nil { return false }
        if case .last? = query.limit { return false }
        return (try? table.readsInOrder(query)) ?? false
    }
}

extension Query {
    /// The rest of this query, from behind a row.
    fileprivate func continued(after row: Document, rows: Int, _ scope: ReadScope) -> Query {
        var rest = self
        rest.start = Cursor(values: cursorValues(of: row, in: scope.database), before: false)
        rest.offset = 0
        if case .first(let count)? = limit { rest.limit = .first(count - rows) }
        return rest
    }
}

extension Output.Event {
    /// About how many bytes it takes, to bound a turn.
    var size: Int {
        switch self {
        case .reply(.document(let document)): 256 + document.contents.bytes.count
        case .reply(.runQuery(let reply)): 256 + (reply.document?.contents.bytes.count ?? 0)
        case .reply(.batchGetDocuments(let result)):
            if case .found(let document)? = result.row {
                256 + document.contents.bytes.count
            } else {
                256
            }
        case .reply(.listDocuments(let rows, _)):
            rows.reduce(256) { $0 + 256 + ($1.document?.contents.bytes.count ?? 0) }
        case .listen(.documentChange(let change)): 256 + change.document.contents.bytes.count
        case .reply, .listen, .write, .ended, .unfinished: 256
        }
    }
}
