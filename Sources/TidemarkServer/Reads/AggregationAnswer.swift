import TidemarkModel
import TidemarkStore

/// Answers aggregation queries.
struct AggregationAnswer {
    let access: ReadAccess

    func reply(
        _ request: RunAggregationQueryRequest, context: CallContext,
        transaction: StoreTransaction
    ) throws -> AggregationReply {
        let aggregations = try Aggregation.validated(request.aggregations)
        let query = try request.query.ordered(for: aggregations)
        try query.validateWithoutVectors()
        let explanation = try access.admit(
            query, aggregations, request.explain, in: context.database)
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        if let explanation, !explanation.isAnalyzed {
            access.bill(
                Billing.withoutDocuments, for: query, aggregations: aggregations,
                by: .runAggregationQuery,
                context: context)
            return AggregationReply(
                values: nil, transaction: scope.begun, readTime: scope.readTime,
                explain: explanation.plan)
        }
        if explanation == nil, aggregations.map(\.operation) == [.count(upTo: 0)] {
            _ = try finish(
                scope, query: query, aggregations: aggregations, entries: 0, context: context)
            return AggregationReply(
                values: [aggregations[0].alias: .integer(0)], transaction: scope.begun,
                readTime: Self.noReadTime)
        }
        var state = AggregationState(aggregations)
        var entries = 0
        var counters = Explanation.Counters(results: 1)
        func reply(_ values: MapValue) throws -> AggregationReply {
            counters.entriesBilled = entries
            (counters.reads, counters.readUnits) = try finish(
                scope, query: query, aggregations: aggregations, entries: entries, context: context)
            return AggregationReply(
                values: values, transaction: scope.begun, readTime: scope.readTime,
                explain: explanation.map { access.metrics($0, counters) })
        }
        if let values = try counts(
            aggregations, query: query, scope: scope, entries: &entries, counters: &counters)
        {
            return try reply(values)
        }
        let totals = try scope.run(query) { document in
            state.add(document.fields)
            return !state.isComplete
        }
        // An index has an entry for each row, even if this store reads other data.
        entries = totals.returned + totals.skipped
        counters.documentsScanned = totals.scanned
        counters.entriesScanned = totals.scanned
        return try reply(state.result)
    }

    /// The read time of production for queries that have read nothing: a microsecond before the
    /// epoch.
    private static let noReadTime = Timestamp(microseconds: -1)

    /// Bills an aggregation: one read for each 1,000 index entries or part of them, at least one.
    ///
    /// - Returns: The billed reads, and the read units in the Enterprise edition.
    private func finish(
        _ scope: ReadScope, query: Query, aggregations: [Aggregation], entries: Int,
        context: CallContext
    ) throws -> (reads: Int, readUnits: Int?) {
        access.record(scope, query: query, rows: [])
        let reads = Billing.aggregation(entries: entries)
        let units = try access.units(of: query, aggregations, entries: entries, in: scope)
        access.note(units, context)
        access.bill(
            reads, for: query, aggregations: aggregations, by: .runAggregationQuery,
            context: context, readUnits: units?.total)
        return (reads, units?.total)
    }

    /// Returns the result if all aggregations are counts: the store then counts without reading
    /// documents.
    private func counts(
        _ aggregations: [Aggregation], query: Query, scope: ReadScope, entries: inout Int,
        counters: inout Explanation.Counters
    ) throws -> MapValue? {
        var bounds: [Int64?] = []
        for aggregation in aggregations {
            guard case .count(let bound) = aggregation.operation else { return nil }
            bounds.append(bound)
        }
        let farthest = bounds.contains { $0 == nil } ? nil : bounds.compactMap { $0 }.max()
        let total = try scope.count(query, upTo: farthest)
        // An index has an entry for each row, even if this store reads other data.
        entries =
            total.documents == 0
            ? total.scanned : min(total.scanned, Int(total.count) + query.offset)
        counters.entriesScanned = total.scanned
        counters.documentsScanned = total.documents
        return MapValue(
            zip(aggregations, bounds).map { aggregation, bound in
                (aggregation.alias, .integer(bound.map { min($0, total.count) } ?? total.count))
            })
    }
}
