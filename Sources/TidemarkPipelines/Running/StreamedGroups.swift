package import TidemarkModel

/// A run of a pipeline with an aggregation, to which documents are given one at a time. It holds
/// the groups and no documents.
///
/// Like a ``PipelineRun``, it belongs to one owner.
package final class StreamedGroups {
    private let state: RunState
    private let feed = Feed()
    private var table: GroupTable
    private let rows: any RowStream
    private let after: ArraySlice<CompiledPipeline.Named>
    private let outer: Scope
    private var failure: PipelineError?
    /// The conditions that fields without a document have to pass; nil if fields do not suffice.
    private let conditions: ArraySlice<CompiledExpression>?

    /// Returns true if a pipeline can run this way: its stages before the aggregation change rows
    /// one by one, and it has a single source.
    package static func canRun(_ pipeline: ValidatedPipeline) -> Bool {
        guard pipeline.firstScan != nil, pipeline.sources.count == 1, pipeline.write == nil,
            !pipeline.dropsFigures, let place = place(of: pipeline)
        else { return false }
        return pipeline.compiled.stages[1..<place].allSatisfy {
            LiveGroups.rowStages.contains($0.name)
        }
    }

    private static func place(of pipeline: ValidatedPipeline) -> Int? {
        pipeline.compiled.stages.firstIndex { $0.stage is AggregateStage }
    }

    /// - Parameter isFiltered: True if fields are added only of documents that match the filter of
    ///   the first scan.
    /// - Precondition: ``canRun(_:)`` is true.
    package init(
        _ pipeline: ValidatedPipeline, context: PipelineContext, isFiltered: Bool = false
    ) throws(PipelineError) {
        guard Self.canRun(pipeline), let place = Self.place(of: pipeline),
            let stage = pipeline.compiled.stages[place].stage as? AggregateStage
        else { preconditionFailure("the pipeline has no aggregation over single rows") }
        state = RunState(source: ListSource([]), context: context)
        outer = Scope(row: PipelineRow(fields: MapValue()), run: state)
        table = GroupTable(stage, state)
        var rows: any RowStream = feed
        for named in pipeline.compiled.stages[1..<place] {
            rows = try named.stage.stream(over: rows, outer: outer)
        }
        self.rows = rows
        let conditions =
            table.needsFieldsOnly ? Self.conditions(of: pipeline, before: place) : nil
        self.conditions = conditions?.dropFirst(isFiltered ? pipeline.exactConditions : 0)
        after = pipeline.compiled.stages[(place + 1)...]
    }

    /// Adds a document.
    ///
    /// - Throws: ``PipelineError``, also at every later call.
    package func add(_ document: Document) throws(PipelineError) {
        if let failure { throw failure }
        do throws(PipelineError) {
            try state.step()
            state.read(document, isNamed: false)
            feed.row = PipelineRow(document, in: state.context.database)
            while let row = try rows.next() { try table.add(row) }
            try state.checkEnd()
        } catch {
            let reason = state.interruption ?? error
            failure = reason
            throw reason
        }
    }

    /// Returns the conditions of stages that read fields alone; nil if there are other stages.
    private static func conditions(
        of pipeline: ValidatedPipeline, before place: Int
    ) -> [CompiledExpression]? {
        var conditions: [CompiledExpression] = []
        for named in pipeline.compiled.stages[1..<place] {
            guard let stage = named.stage as? WhereStage, stage.condition.readsFieldsOnly else {
                return nil
            }
            conditions.append(stage.condition)
        }
        return conditions
    }

    /// Returns true if documents may be added as their fields alone.
    ///
    /// - Precondition: ``canRun(_:)`` is true.
    package static func takesFields(_ pipeline: ValidatedPipeline) -> Bool {
        guard let place = place(of: pipeline),
            let stage = pipeline.compiled.stages[place].stage as? AggregateStage
        else { return false }
        return FieldReading(stage).needsFieldsOnly
            && conditions(of: pipeline, before: place) != nil
    }

    /// Adds the fields of a document.
    ///
    /// - Precondition: ``takesFields(_:)`` is true.
    /// - Throws: ``PipelineError``, also at every later call.
    package func add(_ fields: FieldsInPlace) throws(PipelineError) {
        guard let conditions else { preconditionFailure("the pipeline reads more than fields") }
        if let failure { throw failure }
        do throws(PipelineError) {
            try state.step()
            if try passes(fields, conditions) { try table.add(fields) }
            try state.checkEnd()
        } catch {
            let reason = state.interruption ?? error
            failure = reason
            throw reason
        }
    }

    private func passes(
        _ fields: FieldsInPlace, _ conditions: ArraySlice<CompiledExpression>
    ) throws(PipelineError) -> Bool {
        if conditions.isEmpty { return true }
        let scope = Scope(row: PipelineRow(contents: fields.copied), run: state)
        for condition in conditions {
            try state.step()
            if !condition.evaluate(scope).isTrue { return false }
        }
        return true
    }

    /// Returns the rows behind the last stage. Call it once, after the last document.
    package func end() throws(PipelineError) -> [PipelineRow] {
        if let failure { throw failure }
        var rows: any RowStream = table.stream(variables: [])
        for named in after { rows = try named.stage.stream(over: rows, outer: outer) }
        var result: [PipelineRow] = []
        while let row = try rows.next() {
            try state.checkEnd()
            try row.checkSize(upTo: state.context.limits.valueBytes)
            result.append(row)
        }
        try state.checkEnd()
        return result
    }
}
