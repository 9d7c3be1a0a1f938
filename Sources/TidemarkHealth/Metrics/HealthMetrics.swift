import CoreMetrics

/// The metrics of imports and samples, for swift-metrics. Without a backend, nothing is stored.
///
/// - `tidemark_health_imports`, by `outcome` (`whole`, `cut_off`, `failed`, `cancelled`).
/// - `tidemark_health_import_time`: how long each took, until its end.
/// - `tidemark_health_samples`, by `outcome` (`added`, `known`, `removed`, `ignored`, `bad`): the
///   samples of imports, of rows of hours, and of a source.
/// - `tidemark_health_days_received`: local days that came back from the server.
enum HealthMetrics {
    static func imported(_ outcome: String, in time: Duration) {
        CoreMetrics.Counter(label: "tidemark_health_imports", dimensions: [("outcome", outcome)])
            .increment()
        let parts = time.components
        CoreMetrics.Timer(label: "tidemark_health_import_time")
            .recordNanoseconds(
                parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }

    static func count(_ report: HealthStoreReport) {
        samples(report.added, "added")
        samples(report.known, "known")
        samples(report.removed, "removed")
        samples(report.ignored, "ignored")
        samples(report.bad, "bad")
    }

    static func count(_ report: HealthImport.Report) {
        samples(report.added, "added")
        samples(report.known + report.duplicates, "known")
        samples(report.counts.ignored + report.counts.nested, "ignored")
        samples(report.counts.bad, "bad")
    }

    static func count(_ report: HourlyRows.Report) {
        samples(report.added, "added")
        samples(report.known, "known")
        samples(report.bad, "bad")
    }

    static func received(_ days: Int) {
        CoreMetrics.Counter(label: "tidemark_health_days_received").increment(by: days)
    }

    private static func samples(_ count: Int, _ outcome: String) {
        if count == 0 { return }
        CoreMetrics.Counter(label: "tidemark_health_samples", dimensions: [("outcome", outcome)])
            .increment(by: count)
    }
}
