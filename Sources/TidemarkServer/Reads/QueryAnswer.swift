import TidemarkModel
import TidemarkStore

/// Answers queries, a part at a time. The rows are sent in their stored form; only a projection
/// decodes them.
struct QueryAnswer {
    let access: ReadAccess

    /// - Returns: The rest for the next part, with its read time.
    func begin(
        _ id: CallID, _ request: RunQueryRequest, _ context: CallContext,
        _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) throws -> (rest: UnfinishedAnswer.Rest, readTime: Timestamp)? {
        let query = request.query
        try query.validate()
        let explanation = try access.admit(query, [], request.explain, in: context.database)
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        if let begun = scope.begun {
            outputs.append(id, .runQuery(RunQueryReply(transaction: begun)))
        }
        if let explanation, !explanation.isAnalyzed {
            access.bill(Billing.withoutDocuments, for: query, by: .runQuery, context: context)
            outputs.append(id, .runQuery(RunQueryReply(explain: explanation.plan)))
            return nil
        }
        let start = outputs.count
        var units = access.units(of: query, in: context.database)
        let part = try scope.readPart(of: query) { document in
            units?.add(document)
            outputs.append(id, .runQuery(Self.row(document, query: query, scope: scope)))
        }
        access.record(scope, query: query, rows: part.recorded)
        if query.offset > 0 {
            let skipped = RunQueryReply(
                readTime: scope.readTime, skippedResults: part.totals.skipped)
            outputs.insert(Output(id: id, event: .reply(.runQuery(skipped))), at: start)
        } else if part.totals.returned == 0, explanation == nil {
            outputs.append(id, .runQuery(RunQueryReply(readTime: scope.readTime)))
        }
        try units?.addRest(part.totals, in: scope)
        access.note(units, context)
        var rows = UnfinishedAnswer.Rows(query: query, explanation: explanation, units: units)
        rows.add(part.totals)
        bill(&rows, context)
        if let rest = part.rest { return (.query(rows, rest), scope.readTime) }
        explain(rows, scope: scope, id: id, outputs: &outputs)
        return nil
    }

    /// Sends the next part.
    ///
    /// - Returns: The rest.
    func sendPart(
        of rows: UnfinishedAnswer.Rows, left: UnfinishedAnswer.Left, scope: ReadScope,
        id: CallID, context: CallContext, outputs: inout [Output]
    ) throws -> UnfinishedAnswer.Rest? {
        var rows = rows
        let part = try scope.readPart(of: left) { document in
            rows.units?.add(document)
            outputs.append(id, .runQuery(Self.row(document, query: rows.query, scope: scope)))
        }
        rows.add(part.totals)
        bill(&rows, context)
        if let rest = part.rest { return .query(rows, rest) }
        explain(rows, scope: scope, id: id, outputs: &outputs)
        return nil
    }

    /// Bills the query's rows so far, as if they were all.
    private func bill(_ rows: inout UnfinishedAnswer.Rows, _ context: CallContext) {
        let totals = rows.totals
        let reads =
            rows.query.findNearest == nil
            ? Billing.reads(
                of: rows.query, returned: totals.returned, skipped: totals.skipped,
                entriesScanned: totals.scanned)
            : Billing.nearest(vectorEntries: totals.vectorEntries, returned: totals.returned)
        access.bill(
            reads - rows.billed, for: rows.query, by: .runQuery, context: context,
            part: rows.billed == 0 ? .start : .more,
            readUnits: rows.units.map { $0.total - rows.billedUnits })
        rows.billed = reads
        rows.billedUnits = rows.units?.total ?? 0
    }

    /// Sends the cost of the query after its last row, if requested.
    private func explain(
        _ rows: UnfinishedAnswer.Rows, scope: ReadScope, id: CallID, outputs: inout [Output]
    ) {
        guard let explanation = rows.explanation else { return }
        var counters = Explanation.counters(of: rows.query, rows.totals, reads: rows.billed)
        counters.readUnits = rows.units?.total
        let metrics = access.metrics(explanation, counters)
        outputs.append(id, .runQuery(RunQueryReply(readTime: scope.readTime, explain: metrics)))
    }

    private static func row(
        _ document: Document, query: Query, scope: ReadScope
    ) -> RunQueryReply {
        RunQueryReply(
            document: document.projected(to: query.projection), readTime: scope.readTime)
    }
}
