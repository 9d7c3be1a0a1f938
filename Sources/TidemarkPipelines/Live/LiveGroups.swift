import TidemarkModel

/// The groups of a pipeline's aggregation, maintained by difference. Of each document it keeps the
/// values that it adds to a group, so that they can be removed again.
struct LiveGroups: Sendable {
    /// The contribution of a document's row to a group.
    private struct Part {
        let key: GroupKey
        /// The arguments of the figures; empty if all of them count rows.
        let arguments: [Value?]
        let bytes: Int
    }

    private struct Group {
        let key: [Value?]
        var rows = 0
        var figures: [LiveFigure]
    }

    private let stage: AggregateStage
    /// The stages between the source and the aggregation, which change rows one by one.
    private let before: [CompiledPipeline.Named]
    private let after: ArraySlice<CompiledPipeline.Named>
    private let hasArguments: Bool
    private var groups: [GroupKey: Group] = [:]
    private var parts: [DocumentPath: [Part]] = [:]
    private var bytes = 0

    /// The stages that change rows one by one.
    static let rowStages: Set = [
        "where", "add_fields", "remove_fields", "select", "replace_with", "let", "unnest",
    ]

    /// Returns nil for a pipeline whose figures depend on more than single rows: on their order, on
    /// the time, on random numbers or on other sources.
    init?(_ pipeline: ValidatedPipeline) {
        let stages = pipeline.compiled.stages
        guard pipeline.isDeterministic, !pipeline.readsClock, pipeline.firstScan != nil,
            pipeline.sources.count == 1, !pipeline.dropsFigures,
            let place = stages.firstIndex(where: { $0.stage is AggregateStage }),
            let stage = stages[place].stage as? AggregateStage,
            stage.figures.allSatisfy({ LiveFigure.supports($0.function) })
        else { return nil }
        // These figures do not depend on an order.
        before = stages[1..<place].filter { $0.name != "sort" }
        guard before.allSatisfy({ Self.rowStages.contains($0.name) }) else { return nil }
        after = stages[(place + 1)...]
        self.stage = stage
        hasArguments = stage.figures.contains { $0.argument != nil }
        // A stage without groups has exactly one row, even if no row arrives.
        if stage.groups.isEmpty { groups[GroupKey(values: [])] = newGroup([]) }
    }

    private func newGroup(_ key: [Value?]) -> Group {
        Group(key: key, figures: stage.figures.map { LiveFigure($0.function) })
    }

    // MARK: Changes

    mutating func step(
        _ changes: [LivePipeline.Change], in context: PipelineContext
    ) throws(PipelineError) {
        let run = RunState(source: ListSource([]), context: context)
        let feed = Feed()
        let outer = Scope(row: PipelineRow(fields: MapValue()), run: run)
        var rows: any RowStream = feed
        for named in before { rows = try named.stage.stream(over: rows, outer: outer) }
        for change in changes {
            switch change {
            case .remove(let path): retract(path)
            case .set(let document):
                let isChange = parts[document.path] != nil
                retract(document.path)
                feed.row = PipelineRow(document, in: context.database)
                try insert(rows, of: document.path, isChange: isChange, in: run)
            }
            if bytes > context.limits.bytes {
                throw LivePipeline.tooLarge(context.limits.bytes)
            }
        }
        try run.checkEnd()
    }

    private mutating func insert(
        _ rows: any RowStream, of path: DocumentPath, isChange: Bool, in run: RunState
    ) throws(PipelineError) {
        var added: [Part] = []
        while let row = try rows.next() {
            try run.step()
            let scope = Scope(row: row, run: run)
            let values = try stage.key(of: scope)
            let key = GroupKey(values: values)
            var arguments: [Value?] = []
            for figure in stage.figures {
                arguments.append(try stage.argument(of: figure, scope))
            }
            add(arguments, to: key, of: values)
            #if TIDEMARK_DEFECTS
                if LiveDefect.planted == .countedTwice, isChange {
                    add(arguments, to: key, of: values)
                }
            #endif
            let kept = hasArguments ? arguments : []
            let part = Part(
                key: key, arguments: kept,
                bytes: Self.size(of: kept, upTo: run.context.limits.valueBytes))
            bytes += part.bytes
            added.append(part)
        }
        if added.isEmpty { return }
        parts[path] = added
        bytes += Self.sizeOfDocument
    }

    private mutating func add(_ arguments: [Value?], to key: GroupKey, of values: [Value?]) {
        if groups[key] == nil {
            groups[key] = newGroup(values)
            bytes += Self.size(of: values, upTo: 1 << 24)
        }
        groups[key]!.rows += 1
        for (place, value) in arguments.enumerated() {
            groups[key]!.figures[place].add(value)
        }
    }

    /// Removes what a document has added.
    private mutating func retract(_ path: DocumentPath) {
        guard let old = parts.removeValue(forKey: path) else { return }
        bytes -= Self.sizeOfDocument
        for part in old {
            #if TIDEMARK_DEFECTS
                if LiveDefect.planted == .rowsStay { continue }
            #endif
            bytes -= part.bytes
            groups[part.key]!.rows -= 1
            for place in stage.figures.indices {
                groups[part.key]!.figures[place].remove(
                    hasArguments ? part.arguments[place] : .boolean(true))
            }
            guard groups[part.key]!.rows == 0, !stage.groups.isEmpty else { continue }
            #if TIDEMARK_DEFECTS
                if LiveDefect.planted == .emptyGroupsStay { continue }
            #endif
            bytes -= Self.size(of: groups[part.key]!.key, upTo: 1 << 24)
            groups[part.key] = nil
        }
    }

    /// The bytes that are counted for a document, beside its parts.
    private static let sizeOfDocument = 48

    private static func size(of values: [Value?], upTo bound: Int) -> Int {
        values.reduce(40) { $0 + 16 + ($1?.size(upTo: bound) ?? 0) }
    }

    // MARK: Rows

    /// Returns the rows behind the last stage. The groups enter the stages in the order of their
    /// keys.
    func rows(in context: PipelineContext) throws(PipelineError) -> [PipelineRow] {
        let run = RunState(source: ListSource([]), context: context)
        let outer = Scope(row: PipelineRow(fields: MapValue()), run: run)
        let sorted = groups.values.sorted { Self.precedes($0.key, $1.key) }
        var rows: any RowStream = ListStream(
            sorted.map { stage.row(key: $0.key, results: $0.figures.map(\.result)) })
        for named in after { rows = try named.stage.stream(over: rows, outer: outer) }
        var result = BoundedRows(context.limits)
        while let row = try rows.next() {
            try run.checkEnd()
            try row.checkSize(upTo: context.limits.valueBytes)
            try result.add(row)
        }
        try run.checkEnd()
        return result.all
    }

    private static func precedes(_ left: [Value?], _ right: [Value?]) -> Bool {
        for (a, b) in zip(left, right) {
            switch (a, b) {
            case (nil, nil): continue
            case (nil, _): return true
            case (_, nil): return false
            case (let a?, let b?):
                switch Value.compare(a, b) {
                case .ascending: return true
                case .descending: return false
                case .equal: continue
                }
            }
        }
        return false
    }
}

/// A stream that ends after each row, and continues with the next one that is set.
final class Feed: RowStream {
    var row: PipelineRow?

    func next() throws(PipelineError) -> PipelineRow? { row.take() }
}
