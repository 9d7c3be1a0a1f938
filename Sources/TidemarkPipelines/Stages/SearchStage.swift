import TidemarkModel

/// The stage `search`: the documents that match a query, best first.
///
/// Reads every document of its source. Words are compared whole, without the forms of a language.
struct SearchStage: CompiledStage {
    let condition: CompiledExpression
    let queries: [SearchQuery]
    let sort: [SortStage.Key]
    let fields: [Alias]
    /// The number of best documents that are sorted; nil for all.
    let depth: Int?
    let offset: Int
    let limit: Int?

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        let run = outer.run
        let found = DeferredStream { () throws(PipelineError) in
            var rows = RankedRows(stage: "search", limit: depth, run) { left, right in
                switch Value.compare(left[0], right[0]) {
                case .equal: nil
                case let order: order == .descending
                }
            }
            while var row = try input.next() {
                try run.step()
                guard condition.evaluate(Scope(row: row, run: run)).isTrue else { continue }
                let score = self.score(of: row, run)
                row.setScore(score)
                try rows.add(row, key: [.double(score)])
            }
            return rows.stream()
        }
        var stream: any RowStream = found
        if !sort.isEmpty {
            stream = try SortStage(keys: sort, limit: nil, mayBeSorted: false)
                .stream(over: stream, outer: outer)
        }
        if offset > 0 {
            stream = try OffsetStage(count: offset).stream(over: stream, outer: outer)
        }
        if let limit {
            stream = try LimitStage(count: limit).stream(over: stream, outer: outer)
        }
        if fields.isEmpty { return stream }
        return try AddFieldsStage(aliases: fields).stream(over: stream, outer: outer)
    }

    private func score(of row: PipelineRow, _ run: RunState) -> Double {
        if queries.isEmpty { return 0 }
        let words = run.words(of: row)
        return queries.reduce(0) { $0 + $1.score(words) } / Double(queries.count)
    }
}
