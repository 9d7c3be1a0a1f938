import TidemarkModel

/// A run of a pipeline: rows, one at a time.
///
/// A run is synchronous and belongs to one owner. It reads only as far as the rows that it is asked
/// for need. Memory is bounded by ``PipelineLimits/bytes``.
package final class PipelineRun {
    private let pipeline: ValidatedPipeline
    private let state: RunState
    private var rows: (any RowStream)?
    private var counters: [CountedStream] = []
    private var failure: PipelineError?
    private var writes: WriteQueue?

    init(
        _ pipeline: ValidatedPipeline, source: any PipelineSource, context: PipelineContext
    ) {
        self.pipeline = pipeline
        state = RunState(source: source, context: context)
        writes = pipeline.writeStage.map { WriteQueue($0, state) }
    }

    /// Returns the next row; nil after the last.
    ///
    /// - Throws: ``PipelineError``, also at every later call.
    package func next() throws(PipelineError) -> PipelineRow? {
        if let failure { throw failure }
        do throws(PipelineError) {
            let row = try opened().next()
            try state.checkEnd()
            try row?.checkSize(upTo: state.context.limits.valueBytes)
            return row
        } catch {
            // A function has no result in a run that must end, so the reason of the end counts.
            let reason = state.interruption ?? error
            failure = reason
            throw reason
        }
    }

    /// Returns the next write of a pipeline whose last stage writes; nil after the last.
    ///
    /// - Throws: ``PipelineError``, for example if a row has no document to write.
    /// - Precondition: The pipeline writes.
    package func nextWrite() throws(PipelineError) -> PipelineWrite? {
        precondition(pipeline.write != nil, "the pipeline does not write")
        while let row = try next() {
            do throws(PipelineError) {
                if let write = try writes?.write(of: row) { return write }
            } catch {
                failure = error
                throw error
            }
        }
        return nil
    }

    private func opened() throws(PipelineError) -> any RowStream {
        if let rows { return rows }
        let outer = Scope(row: PipelineRow(fields: MapValue()), run: state)
        var rows: any RowStream = EmptyStream()
        let ticks = state.context.ticks
        for named in pipeline.compiled.stages {
            let start = ticks?()
            let stage = try named.stage.stream(over: rows, outer: outer)
            let detail = (stage as? DocumentStream)?.scan.description ?? ""
            let counted = CountedStream(stage, name: named.name, detail: detail, ticks: ticks)
            if let ticks, let start { counted.add(ticks() - start) }
            counters.append(counted)
            rows = counted
        }
        self.rows = rows
        return rows
    }

    /// The stages with the rows that each has delivered so far, and the time of each without the
    /// time of the stages before it.
    package var explain: [StageFigures] {
        zip(counters, [nil] + counters).map { stage, before in stage.figures(after: before) }
    }
    /// The number of documents that all scans have read, those of subqueries included.
    package var documentsRead: Int { state.documentsRead }
    /// The bytes of these documents.
    package var bytesRead: Int { state.bytesRead }
    /// The read units of the Enterprise edition: 4 KiB of scanned documents, and at least one for
    /// each document that is read by its name.
    package var readUnits: Int { state.readUnits }
    /// The maximum memory that stages held during the run, in bytes.
    package var mostBytesHeld: Int { state.memory.most }
}

/// A stage of a run and its rows, for explanations.
package struct StageFigures: Hashable, Sendable {
    package let name: String
    /// The number of rows that the stage has delivered so far.
    package let rows: Int
    /// The way in which the stage finds its rows, for example an index; empty for most stages.
    package let detail: String
    /// The time of the stage itself; nil if the run measures no times.
    package let duration: Duration?
}

/// Counts the rows of a stage, and measures its time.
private final class CountedStream: RowStream {
    private let rows: any RowStream
    private let name: String
    private let detail: String
    private let ticks: (@Sendable () -> Duration)?
    private var count = 0
    /// The time of the stage and of all stages before it.
    private var total = Duration.zero

    init(
        _ rows: any RowStream, name: String, detail: String, ticks: (@Sendable () -> Duration)?
    ) {
        (self.rows, self.name, self.detail, self.ticks) = (rows, name, detail, ticks)
    }

    var isSorted: Bool { rows.isSorted }

    /// - Parameter before: The stage before this one; nil for the first stage.
    func figures(after before: CountedStream?) -> StageFigures {
        let own = total - (before?.total ?? .zero)
        return StageFigures(
            name: name, rows: count, detail: detail,
            duration: ticks == nil ? nil : max(.zero, own))
    }

    /// Adds time that the stage needs before its first row.
    func add(_ duration: Duration) { total += duration }

    func next() throws(PipelineError) -> PipelineRow? {
        guard let ticks else { return try counted() }
        let start = ticks()
        defer { total += ticks() - start }
        return try counted()
    }

    private func counted() throws(PipelineError) -> PipelineRow? {
        guard let row = try rows.next() else { return nil }
        count += 1
        return row
    }
}
