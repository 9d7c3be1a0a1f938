package import TidemarkModel

extension SyncEngine {
    /// Makes an aggregation over the rows that the cache holds, pending writes counted in. Nothing is
    /// asked of the server: whether all rows are here, ``ReadResult/isKnown`` of a read would tell.
    ///
    /// Costs a look at two blocks of an index where their figures are kept, and else at every entry or
    /// document, in slices: Decisions/0027 says when it is which.
    package func cachedAggregate(
        _ query: Query, _ aggregations: [Aggregation], here: Bool = false,
        completion: @escaping @Sendable (Result<(AggregationReply, Freshness), SyncError>) -> Void
    ) {
        perform(here: here) { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            do throws(RPCStatus) {
                let named = try Aggregation.validated(aggregations)
                core.findFigures(query, named) { [weak core] result in
                    completion(
                        result.flatMap { values in
                            core?.reply(values, query) ?? .failure(.terminated)
                        })
                }
            } catch { completion(.failure(.server(error))) }
        }
    }
}

extension EngineCore {
    /// - Parameter aggregations: Checked ones.
    fileprivate func findFigures(
        _ query: Query, _ aggregations: [Aggregation],
        _ completion: @escaping (Result<MapValue, SyncError>) -> Void
    ) {
        let fields = Figures.fields(of: aggregations)
        let isWhole = query.limit == nil && query.offset == 0
        guard isWhole || fields.isEmpty else {
            return findFiguresOfRows(query, aggregations, fields, completion)
        }
        var all = query
        (all.limit, all.offset, all.projection) = (nil, 0, nil)
        let read = FigureRead([all], fields, local)
        begin(read) { error in
            if let error { return completion(.failure(error)) }
            var figures = read.figures[0]
            if !isWhole {
                let count = max(0, figures.rows - Int64(query.offset))
                figures = Figures(of: [])
                figures.addRows(min(count, query.limit.map { Int64($0.count) } ?? .max))
            }
            completion(.success(figures.values(aggregations)))
        }
    }

    /// Where a limit decides which rows take part: they are found first.
    private func findFiguresOfRows(
        _ query: Query, _ aggregations: [Aggregation], _ fields: [FieldPath],
        _ completion: @escaping (Result<MapValue, SyncError>) -> Void
    ) {
        let read = QueryRead(query, local)
        begin(read) { error in
            if let error { return completion(.failure(error)) }
            var figures = Figures(of: fields)
            for row in read.rows { figures.add(row.contents) }
            completion(.success(figures.values(aggregations)))
        }
    }

    fileprivate func reply(
        _ values: MapValue, _ query: Query
    ) -> Result<(AggregationReply, Freshness), SyncError> {
        Result {
            let confirmed = try local.targets.confirmed(query.wireForm)
            return (
                AggregationReply(values: values, readTime: confirmed ?? .epoch),
                .stale(age: confirmed.map(age), reason: .askedForCache)
            )
        }.mapError(SyncError.init(storing:))
    }

    /// How many rows each query has in one state of the cache.
    func findCounts(
        of queries: [Query], _ completion: @escaping (Result<[Int], SyncError>) -> Void
    ) {
        if let refusal { return completion(.failure(refusal)) }
        let read = FigureRead(queries, [], local)
        begin(read) { error in
            if let error { return completion(.failure(error)) }
            completion(.success(read.figures.map { Int($0.rows) }))
        }
    }
}
