/// The facts about a pipeline in the code.
struct PipelineFacts: Hashable, Sendable {
    /// The collection, or the group of collections, that the pipeline reads; nil for documents by
    /// name. A path without segments is the whole database.
    var source: QueryFacts?
    /// True if a condition or a limit spares the pipeline some of the documents.
    var isNarrowed = false
    /// False if a stage was not understood.
    var isComplete = true
    /// True if the next stage sees fields that are not the documents' own.
    private var hasOtherFields = false
    /// True if the next stage sees rows that are known only after all documents are read.
    private var needsAll = false

    init(source: QueryFacts?) { self.source = source }

    /// The pipeline that reads the same rows as a query.
    init(_ query: QueryFacts) {
        source = query
        isNarrowed =
            !query.conditions.isEmpty || query.hasCompositeFilter || query.hasCursor
            || query.limit != .none
        isComplete = query.limit != .sometimes
    }

    /// Returns the facts after another stage; nil if the name is none of a stage.
    func after(_ stage: String) -> PipelineFacts? {
        var facts = self
        switch stage {
        case "where": if !needsAll, !hasOtherFields { facts.isNarrowed = true }
        case "limit": if !needsAll { facts.isNarrowed = true }
        // Both are answered by indexes of their own.
        case "search", "findNearest": facts.isNarrowed = true
        case "sort", "offset", "define", "sample": break
        case "addFields", "removeFields", "select", "replace", "unnest", "union":
            facts.hasOtherFields = true
        case "aggregate", "distinct": facts.needsAll = true
        case "rawStage": facts.isComplete = false
        default: return nil
        }
        return facts
    }

    /// Returns the facts that are true on both of two paths through the code.
    func joined(with other: PipelineFacts) -> PipelineFacts {
        if self == other { return self }
        var result = self
        result.isComplete = false
        return result
    }
}
