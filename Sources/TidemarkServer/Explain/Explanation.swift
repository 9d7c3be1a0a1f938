import TidemarkModel

/// The explanation of a call that asked for it: its plan and, after a run, the cost of the run,
/// from the run's counters and the meter's bill.
struct Explanation {
    /// True if the query also runs.
    let isAnalyzed: Bool
    private let indexes: [IndexUse]
    /// The begin of the run, by ``ServerEnvironment/ticks``.
    private let start: Duration

    init(_ options: ExplainOptions, _ indexes: [IndexUse], start: Duration) {
        isAnalyzed = options.analyze
        self.indexes = indexes
        self.start = start
    }

    /// The counters of a run.
    struct Counters {
        /// The number of documents, or 1 for a row of figures.
        var results = 0
        /// The number of reads that the meter counted for the call.
        var reads = 0
        var documentsScanned = 0
        var entriesScanned = 0
        /// The number of documents that are billed singly: those returned and those skipped.
        var documentsBilled = 0
        /// The number of entries that are billed by the thousand.
        var entriesBilled = 0
        /// The billed read units; nil for a database of the Standard edition.
        var readUnits: Int?
    }

    /// Returns the counters. The store reads a document for each scanned entry, so both counts are
    /// equal.
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

    /// The plan without a run.
    var plan: ExplainMetrics { ExplainMetrics(indexesUsed: indexes) }

    /// Returns the plan and the cost of its execution, in production's words.
    func metrics(_ counters: Counters, end: Duration) -> ExplainMetrics {
        // A query without results is billed for one read.
        let isMinimum = counters.documentsBilled == 0 && counters.entriesBilled == 0
        var billing: [String: ExecutionStats.DebugValue] = [
            "documents_billable": .text("\(counters.documentsBilled)"),
            "index_entries_billable": .text("\(counters.entriesBilled)"),
            "small_ops": .text("0"),
            "min_query_cost": .text(isMinimum ? "\(counters.reads)" : "0"),
        ]
        if let units = counters.readUnits { billing["read_units"] = .text("\(units)") }
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
