import TidemarkModel

struct AggregateStage: CompiledStage {
    struct Figure: Sendable {
        let alias: FieldPath
        let function: AggregateFunction
        /// The argument; nil for a count of rows.
        let argument: CompiledExpression?
    }

    let figures: [Figure]
    let groups: [Alias]

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        DeferredStream { () throws(PipelineError) in
            var table = GroupTable(self, outer.run)
            while let row = try input.next() {
                try outer.run.step()
                try table.add(row)
            }
            return table.stream(variables: outer.row.variables)
        }
    }

    /// Returns the value that a row adds to a figure; nil for an absent value.
    func argument(of figure: Figure, _ scope: Scope) throws(PipelineError) -> Value? {
        guard let argument = figure.argument else { return .boolean(true) }
        let outcome = argument.evaluate(scope)
        // Only TRUE counts, as in `where`. An error does not count.
        if figure.function == .countIf { return outcome.isTrue ? .boolean(true) : nil }
        return try outcome.output()
    }

    /// Returns the values that make a row's group.
    func key(of scope: Scope) throws(PipelineError) -> [Value?] {
        var values: [Value?] = []
        values.reserveCapacity(groups.count)
        for alias in groups { values.append(try alias.value.evaluate(scope).output()) }
        return values
    }

    /// Returns the row of a group.
    func row(key: [Value?], results: [Value]) -> PipelineRow {
        var fields = MapValue()
        for (alias, value) in zip(groups, key) {
            if let value { fields[alias.path] = value }
        }
        for (figure, result) in zip(figures, results) { fields[figure.alias] = result }
        return PipelineRow(fields: fields)
    }
}
