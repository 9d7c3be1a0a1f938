import TidemarkModel

/// What one call that asked for it is told: how it is planned, and after a run what that took. Made
/// of the counters of that run and of what the meter billed.
struct Explanation {
    /// Whether the query is run, too.
    let isAnalyzed: Bool
    private let indexes: [IndexUse]
    /// When the run began, by ``ServerEnvironment/ticks``.
    private let start: Duration

    init(_ options: ExplainOptions, _ indexes: [IndexUse], start: Duration) {
        isAnalyzed = options.analyze
        self.indexes = indexes
        self.start = start
    }

    /// What a run looked at.
    struct Counters {
        /// Documents, or one row of figures.
        var results = 0
        /// What the meter counted for the call.
        var reads = 0
        var documentsScanned = 0
        var entriesScanned = 0
        /// What is billed by the document: those returned and those skipped.
        var documentsBilled = 0
        /// What is billed by the thousand.
        var entriesBilled = 0
    }

    /// Documents the store read, with the entry that led to each.
    static func counters(of query: Query, _ totals: ReadScope.Totals, reads: Int) -> Counters {
        let entriesBilled =
            if query.findNearest != nil {
                totals.vectorEntries
            } else {
                query.hasSeveralRangeFields ? totals.scanned : 0
            }
        return Counters(
            results: totals.returned, reads: reads, documentsScanned: totals.scanned,
            entriesScanned: totals.scanned, documentsBilled: totals.returned + totals.skipped,
            entriesBilled: entriesBilled)
    }

    /// The plan alone.
    var plan: ExplainMetrics { ExplainMetrics(indexesUsed: indexes) }

    /// The plan, and what its execution took, in production's words.
    func metrics(_ counters: Counters, end: Duration) -> ExplainMetrics {
        // Where nothing is found, one read is billed all the same.
        let isMinimum = counters.documentsBilled == 0 && counters.entriesBilled == 0
        let billing: [String: ExecutionStats.DebugValue] = [
            "documents_billable": .text("\(counters.documentsBilled)"),
            "index_entries_billable": .text("\(counters.entriesBilled)"),
            "small_ops": .text("0"),
            "min_query_cost": .text(isMinimum ? "\(counters.reads)" : "0"),
        ]
        return ExplainMetrics(
            indexesUsed: indexes,
            execution: ExecutionStats(
                resultsReturned: Int64(counters.results),
                readOperations: Int64(counters.reads), duration: end - start,
                debugStats: [
                    "billing_details": .group(billing),
                    "documents_scanned": .text("\(counters.documentsScanned)"),
                    "index_entries_scanned": .text("\(counters.entriesScanned)"),
                ]))
    }
}
