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

    /// Sends the next part of an answer, and its end after the last one.
    func proceed(_ id: CallID, _ transaction: StoreTransaction, _ outputs: inout [Output]) {
        // It may have been cancelled since.
        guard let answer = unfinished.remove(id) else { return }
        var status = RPCStatus.ok
        let start = outputs.count
        do {
            let scope = try scope(continuing: answer, transaction)
            if let rest = try sendPart(of: answer, scope, id, &outputs) {
                try wait(id, for: rest, scope, answer.context)
            }
        } catch {
            outputs.removeSubrange(start...)
            status = RPCStatus(storeFailure: error)
        }
        outputs.append(
            Output(id: id, event: unfinished.contains(id) ? .unfinished : .ended(status)))
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
        case .query(let query):
            let (totals, rest) = try sendPart(of: query, scope, id, &outputs)
            meter.countReads(totals.returned, by: .runQuery, label: answer.context.label)
            return rest
        case .rows(var paths, let projection):
            var part = AnswerPart()
            while !part.isFull, let path = paths.popFirst() {
                guard let document = try scope.document(at: path) else { continue }
                part.add(document)
                outputs.append(
                    id, .runQuery(Self.row(document, projection, scope)))
            }
            return paths.isEmpty ? nil : .rows(paths, projection: projection)
        case .batch(var batch):
            return try sendPart(of: &batch, scope, id, &outputs) ? nil : .batch(batch)
        }
    }

    /// Sends the first rows of the query, as they are stored; only a projection decodes them.
    ///
    /// - Returns: What it took, all rows included that the caller is billed for now, and what is left.
    func sendPart(
        of query: Query, _ scope: ReadScope, _ id: CallID, _ outputs: inout [Output]
    ) throws -> (ReadScope.Totals, UnfinishedAnswer.Rest?) {
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
            outputs.append(id, .runQuery(Self.row(document, query.projection, scope)))
            return true
        }
        record(scope, query, recorded)
        guard let left, let last else { return (totals, nil) }
        if !goesOnByCursor { return (totals, .rows(left, projection: query.projection)) }
        var billed = totals
        // The row that did not fit is the next part's first.
        billed.returned -= 1
        return (billed, .query(query.continued(after: last, rows: billed.returned, scope)))
    }

    private static func row(
        _ document: Document, _ projection: [FieldPath]?, _ scope: ReadScope
    ) -> RunQueryReply {
        RunQueryReply(document: document.projected(to: projection), readTime: scope.readTime)
    }

    /// - Returns: Whether that was all of it.
    func sendPart(
        of batch: inout UnfinishedAnswer.Batch, _ scope: ReadScope, _ id: CallID,
        _ outputs: inout [Output]
    ) throws -> Bool {
        var part = AnswerPart()
        while !part.isFull, let path = batch.paths.popFirst() {
            guard let document = try scope.document(at: path) else {
                batch.missing.append(path)
                continue
            }
            part.add(document)
            let row = BatchGetResult.Row.found(document.projected(to: batch.mask))
            outputs.append(
                id, .batchGetDocuments(BatchGetResult(row: row, readTime: scope.readTime)))
        }
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
