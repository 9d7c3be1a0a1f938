import CoreMetrics

/// The metrics of backfills, for swift-metrics. Without a backend, nothing is stored.
///
/// - `tidemark_backfill_parts`, by `outcome` (`covered`, `failed`).
/// - `tidemark_backfill_samples`, `tidemark_backfill_reads`: the samples and reads of fetched
///   parts.
/// - `tidemark_backfill_writes`: the writes of uploaded parts.
enum BackfillMetrics {
    static func count(_ event: BackfillMachine.Event) {
        switch event {
        case .fetched(let part):
            add(part.samples, to: "tidemark_backfill_samples")
            add(part.reads, to: "tidemark_backfill_reads")
        case .uploaded(let writes): add(writes, to: "tidemark_backfill_writes")
        case .covered: ended("covered")
        case .failed: ended("failed")
        default: break
        }
    }

    private static func ended(_ outcome: String) {
        CoreMetrics.Counter(
            label: "tidemark_backfill_parts", dimensions: [("outcome", outcome)]
        ).increment()
    }

    private static func add(_ count: Int, to label: String) {
        if count > 0 { CoreMetrics.Counter(label: label).increment(by: count) }
    }
}
