import TidemarkModel
import TidemarkPipelines
import TidemarkStore

/// Answers pipelines that only read. A pipeline runs to its end in one turn; its rows are sent a
/// part at a time.
struct PipelineAnswer {
    let access: ReadAccess

    /// The rows that are not sent yet, and what follows them.
    struct Rest {
        private(set) var rows: ArraySlice<ExecutePipelineReply.Row>
        let explanation: String?
        /// The approximate bytes of the rows in memory.
        private(set) var size: Int

        fileprivate init(_ collected: CollectedRows, explanation: String?) {
            rows = collected.rows[...]
            size = collected.bytes
            self.explanation = explanation
        }

        mutating func popFirst() -> ExecutePipelineReply.Row? {
            guard let row = rows.popFirst() else { return nil }
            size -= row.size
            return row
        }
    }

    /// - Returns: The rest for the next part, with its read time.
    /// - Throws: The first error of a row, with nothing sent.
    func begin(
        _ id: CallID, pipeline: AdmittedPipeline, context: CallContext,
        transaction: StoreTransaction, outputs: inout [Output]
    ) throws -> (rest: Rest, readTime: Timestamp)? {
        let scope = try access.scope(
            pipeline.request.readConsistency, context: context, transaction: transaction)
        if pipeline.explanation == .plan {
            access.countReads(
                Billing.withoutDocuments, by: .executePipeline, context, on: pipeline.meterTarget)
            let reply = ExecutePipelineReply(
                transaction: scope.begun, executionTime: scope.readTime,
                explanation: try pipeline.plan())
            outputs.append(id, .executePipeline(reply))
            return nil
        }
        let start = access.ticks
        let run = pipeline.valid.run(
            over: ScopedPipelineSource(scope: scope),
            context: PipelineContext(
                database: context.database, now: scope.readTime, seed: access.randomBits(),
                ticks: pipeline.explanation == .analysis ? access.stopwatch : nil,
                interruption: PipelineTurn.limit(access.stopwatch)))
        var collected = CollectedRows()
        do throws(PipelineError) {
            defer { bill(run, pipeline: pipeline, context: context) }
            while let row = try run.next() { try collected.add(row) }
        } catch { throw error.status }
        try record(pipeline, scope)
        let request = pipeline.request
        if request.commitsTransaction, case .transaction(let id) = request.consistency {
            access.commit(id)
        }
        let explanation =
            pipeline.explanation == .analysis
            ? try pipeline.analysis(
                run, rows: collected.rows.count, duration: access.ticks - start)
            : nil
        var rest = Rest(collected, explanation: explanation)
        let isWhole = sendPart(
            of: &rest, readTime: scope.readTime, begun: scope.begun, id: id, outputs: &outputs)
        return isWhole ? nil : (rest, scope.readTime)
    }

    /// Sends the next part.
    ///
    /// - Returns: True if it is the last one.
    func sendPart(
        of rest: inout Rest, readTime: Timestamp, begun: TransactionID? = nil, id: CallID,
        outputs: inout [Output]
    ) -> Bool {
        var part = AnswerPart()
        var begun = begun
        repeat {
            var rows: [ExecutePipelineReply.Row] = []
            var bytes = 0
            while bytes < Self.messageBytes, !part.isFull, let row = rest.popFirst() {
                rows.append(row)
                bytes += row.size
                part.add(bytes: row.size)
            }
            var reply = ExecutePipelineReply(
                transaction: begun, rows: rows, executionTime: readTime)
            begun = nil
            if rest.rows.isEmpty { reply.explanation = rest.explanation }
            outputs.append(id, .executePipeline(reply))
        } while !part.isFull && !rest.rows.isEmpty
        return rest.rows.isEmpty
    }

    /// The bytes of rows after which a message ends.
    private static let messageBytes = 1 << 16

    /// Bills the documents that the pipeline has read, also if it has failed.
    private func bill(
        _ run: PipelineRun, pipeline: AdmittedPipeline, context: CallContext
    ) {
        access.countReads(
            max(1, run.documentsRead), by: .executePipeline, context, on: pipeline.meterTarget,
            readUnits: run.readUnits)
    }

    /// Records the sources as reads of an optimistic transaction.
    private func record(_ pipeline: AdmittedPipeline, _ scope: ReadScope) throws {
        guard scope.recorder != nil else { return }
        for source in pipeline.valid.sources {
            if case .documents(let paths) = source {
                for path in paths {
                    access.record(scope, path: path, document: try scope.document(at: path))
                }
            } else {
                access.record(scope, query: source.query ?? .everywhere, rows: [])
            }
        }
    }
}

/// The rows of a pipeline, in the form in which they are sent.
private struct CollectedRows {
    /// The maximum bytes of an answer. The rows wait in memory until their reader takes them.
    static let maxBytes = 64 << 20

    private(set) var rows: [ExecutePipelineReply.Row] = []
    private(set) var bytes = 0

    mutating func add(_ row: PipelineRow) throws(PipelineError) {
        let encoded = ExecutePipelineReply.Row(row)
        bytes += encoded.size
        if bytes > Self.maxBytes {
            throw PipelineError(
                .resourceExhausted,
                """
                The pipeline's rows have more than \(Self.maxBytes >> 20) MiB. Add a limit, or \
                select fewer fields.
                """)
        }
        rows.append(encoded)
    }
}

extension ExecutePipelineReply.Row {
    init(_ row: PipelineRow) {
        self.init(
            path: row.name?.path, contents: EncodedFields(row.fields), createTime: row.createTime,
            updateTime: row.updateTime)
    }

    /// The approximate bytes in memory and on the wire.
    var size: Int { 64 + contents.bytes.count + (path?.text.utf8.count ?? 0) }
}

extension AdmittedPipeline {
    /// Returns the plan of a pipeline that does not run.
    func plan() throws(RPCStatus) -> String {
        let stages = valid.pipeline.stages.map {
            PipelineExplanation.Stage(name: $0.name, rows: nil, detail: "")
        }
        return PipelineExplanation(stages: stages, run: nil)
            .text(isJSON: try ExplainMode.isJSON(request.options))
    }

    /// Returns what a run did and what it cost.
    func analysis(
        _ run: PipelineRun, rows: Int, duration: Duration
    ) throws(RPCStatus) -> String {
        let stages = run.explain.map {
            PipelineExplanation.Stage(
                name: $0.name, rows: $0.rows, detail: $0.detail, duration: $0.duration)
        }
        return PipelineExplanation(
            stages: stages,
            run: PipelineExplanation.Run(
                rows: rows, documentsRead: run.documentsRead, bytesRead: run.bytesRead,
                readUnits: run.readUnits, duration: duration)
        ).text(isJSON: try ExplainMode.isJSON(request.options))
    }
}
