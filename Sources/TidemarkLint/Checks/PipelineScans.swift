import TidemarkModel

/// The check `pipeline-scan`.
enum PipelineScans {
    static func findings(in context: CheckContext) -> [Finding] {
        context.operations.compactMap { operation in
            guard case .pipeline(let facts) = operation.receiver else { return nil }
            if operation.isFromCache(context.evaluator) { return nil }
            guard facts.isComplete else {
                context.cannotTell(operation.place, "the stages of this pipeline")
                return nil
            }
            guard !facts.isNarrowed, let source = facts.source, isLarge(source) else { return nil }
            return finding(operation, source: source, context)
        }
    }

    /// Returns false for a collection below a document, which is often small.
    private static func isLarge(_ source: QueryFacts) -> Bool {
        if source.path.isEmpty { return !source.hasUnknownPrefix }
        let isRoot = source.path.count == 1 && !source.hasUnknownPrefix
        return source.collectionID != nil && (isRoot || source.isGroup)
    }

    private static func finding(
        _ operation: Operation, source: QueryFacts, _ context: CheckContext
    ) -> Finding {
        let what =
            source.path.isEmpty
            ? "every document of the database" : "every document of `\(source.name)`"
        return context.finding(
            .pipelineScan, at: operation, "This pipeline reads \(what).",
            because:
                "The Enterprise edition bills the bytes that a pipeline reads, in units of 4 KiB, "
                + "also if it returns one row of figures. They grow with the collection, for each "
                + "run and each user.",
            mend:
                "Put a `where` or a limit directly behind the collection, and create an index for "
                + "it. Figures of documents that the device holds cost nothing: "
                + "`execute(source: .cache)`.",
            estimate: Estimate(
                scanOf: context.scale.documents(of: source), scale: context.scale))
    }
}
