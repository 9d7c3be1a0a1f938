package import TidemarkModel

extension SyncEngine {
    /// Makes an aggregation over the rows that the cache holds, pending writes counted in. Nothing is
    /// asked of the server: whether all rows are here, ``ReadResult/isKnown`` of a read would tell.
    package func cachedAggregate(
        _ query: Query, _ aggregations: [Aggregation], here: Bool = false,
        completion: @escaping @Sendable (Result<(AggregationReply, Freshness), SyncError>) -> Void
    ) {
        perform(here: here) { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            completion(
                Result { try core.cachedFigures(query, aggregations) }
                    .mapError(SyncError.init(storing:)))
        }
    }
}

extension EngineCore {
    fileprivate func cachedFigures(
        _ query: Query, _ aggregations: [Aggregation]
    ) throws -> (AggregationReply, Freshness) {
        let named: [Aggregation]
        do throws(RPCStatus) { named = try Aggregation.validated(aggregations) } catch {
            throw SyncError.server(error)
        }
        defer { wantIndexes() }
        let rows = try local.run(query)
        let values = Aggregation.evaluate(named, over: rows.lazy.map(\.contents.decoded))
        let confirmed = try local.confirmed(query.wireForm)
        return (
            AggregationReply(values: values, readTime: confirmed ?? .epoch),
            .stale(age: confirmed.map(age), reason: .askedForCache)
        )
    }
}
