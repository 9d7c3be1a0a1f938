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

/// The groups of an aggregation. Holds no rows, except values that a function keeps.
struct GroupTable {
    private let stage: AggregateStage
    private let run: RunState
    private let memory: Reservation
    private var indexes: [GroupKey: Int] = [:]
    private var groups: [Group] = []

    struct Group {
        let key: [Value?]
        var accumulators: [Accumulator]
    }

    init(_ stage: AggregateStage, _ run: RunState) {
        (self.stage, self.run) = (stage, run)
        memory = Reservation(run, stage: "aggregate")
        // A stage without groups has exactly one row, even if no row arrives.
        if stage.groups.isEmpty {
            groups = [newGroup([])]
            indexes[GroupKey(values: [])] = 0
        }
    }

    private func newGroup(_ key: [Value?]) -> Group {
        Group(key: key, accumulators: stage.figures.map { Accumulator($0.function) })
    }

    mutating func add(_ row: PipelineRow) throws(PipelineError) {
        let scope = Scope(row: row, run: run)
        let index = try group(of: scope)
        for (place, figure) in stage.figures.enumerated() {
            let value = try stage.argument(of: figure, scope)
            if groups[index].accumulators[place].add(value), let value {
                try memory.add(value.size(upTo: run.context.limits.valueBytes) + 48)
            }
        }
    }

    private mutating func group(of scope: Scope) throws(PipelineError) -> Int {
        if stage.groups.isEmpty { return 0 }
        let values = try stage.key(of: scope)
        let size = try size(of: values)
        let key = GroupKey(values: values)
        if let index = indexes[key] { return index }
        try memory.add(size + 64 + Accumulator.size * stage.figures.count)
        groups.append(newGroup(values))
        indexes[key] = groups.count - 1
        return groups.count - 1
    }

    /// Returns the bytes of a key.
    private func size(of key: [Value?]) throws(PipelineError) -> Int {
        let bound = run.context.limits.valueBytes
        var size = 0
        for value in key {
            size += 16 + (value?.size(upTo: bound) ?? 0)
            if size > bound {
                throw PipelineError(
                    .resourceExhausted, "The keys of a group are larger than \(bound) bytes.")
            }
        }
        return size
    }

    func stream(variables: [Outcome]) -> any RowStream {
        var rest = groups[...]
        let (stage, memory) = (stage, memory)
        return GeneratedStream { () throws(PipelineError) in
            guard let group = rest.popFirst() else { return nil }
            _ = memory
            var row = stage.row(key: group.key, results: group.accumulators.map(\.result))
            row.variables = variables
            return row
        }
    }
}

/// The values of a group, under the equality of `equal`: 1 and 1.0 are one group, null and absent
/// are two.
struct GroupKey: Hashable, Sendable {
    private let values: [EquivalentValue?]
    #if TIDEMARK_DEFECTS
        private var types: [String] = []
    #endif

    init(values: [Value?]) {
        self.values = values.map { $0.map(EquivalentValue.init) }
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .typedGroups {
                types = values.map { $0?.typeName ?? "" }
            }
        #endif
    }
}
