package import TidemarkModel

/// A pipeline that can run: every stage and function is known, and every argument fits.
package struct ValidatedPipeline: Sendable {
    /// The pipeline as the client sent it.
    package let pipeline: Pipeline
    /// The places where a run reads documents, including those of unions and subqueries.
    package let sources: [PipelineScan.Origin]
    /// The scan of the first stage, with its hints; nil if the rows are literals.
    package let firstScan: PipelineScan?
    /// True if the rows are the documents of the first scan, when its source applies all hints: no
    /// stage drops, orders or changes them further.
    package let isFirstScan: Bool
    /// The number of conditions behind the first scan that are TRUE for every document of a source
    /// that applies the scan's filter.
    package let exactConditions: Int
    /// The last stage, if it writes.
    package let write: WriteKind?
    /// False if a run depends on random numbers.
    package let isDeterministic: Bool
    /// True if a run depends on its time.
    package let readsClock: Bool
    /// True if a stage searches for words.
    package let searches: Bool
    let compiled: CompiledPipeline
    let writeStage: WriteStage?

    /// True if a limit of 0 follows the first aggregation. A run then computes no figures, and none
    /// can fail.
    var dropsFigures: Bool {
        let stages = pipeline.stages.drop { $0.name != "aggregate" }
        return stages.contains {
            $0.name == "limit" && $0.arguments.first == .constant(.integer(0))
        }
    }

    /// Starts a run. Nothing is read before the first call of ``PipelineRun/next()``.
    package func run(
        over source: any PipelineSource, context: PipelineContext
    ) -> PipelineRun {
        PipelineRun(self, source: source, context: context)
    }
}

/// A stage that writes what the stages before it return.
package enum WriteKind: String, Hashable, Sendable {
    case delete, update, insert, upsert
}

extension Pipeline {
    /// Checks the pipeline, and resolves the names of stages, functions, fields and variables.
    ///
    /// - Parameter isOnDevice: True if the pipeline runs on a device, which knows forms that no
    ///   server knows.
    /// - Throws: ``PipelineError`` of code `invalidArgument` that names the stage, function,
    ///   argument or bound.
    package func validated(
        in database: DatabaseID, limits: PipelineLimits = .production, isOnDevice: Bool = false
    ) throws(PipelineError) -> ValidatedPipeline {
        try DepthCheck.check(self, limits)
        let findings = Findings()
        var compiler = StageCompiler(
            Environment(
                database: database, limits: limits, findings: findings, isOnDevice: isOnDevice))
        let compiled = try compiler.compile(self)
        let firstScan = (compiled.stages[0].stage as? SourceStage)?.scan
        return ValidatedPipeline(
            pipeline: self, sources: findings.sources, firstScan: firstScan,
            isFirstScan: firstScan != nil && compiler.hasCompleteHints,
            exactConditions: compiler.exactConditions,
            write: compiler.write?.kind, isDeterministic: findings.isDeterministic,
            readsClock: findings.readsClock, searches: findings.searches, compiled: compiled,
            writeStage: compiler.write)
    }
}
