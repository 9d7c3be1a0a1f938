import CoreMetrics
import Tidemark

extension Observer {
    /// Records events for swift-metrics, beside the metrics of ``Feed`` and ``Launch`` that are
    /// always recorded:
    ///
    /// - `tidemark_feed_reads`, by `context` and `filter`: billed reads.
    /// - `tidemark_feed_sync_time`, by `context` and `outcome` (`ok`, or an error's code).
    public static let metrics = Observer { event in
        guard case .synced(let sync) = event else { return }
        CoreMetrics.Counter(
            label: "tidemark_feed_reads",
            dimensions: [("context", sync.context), ("filter", sync.filter.rawValue)]
        ).increment(by: sync.reads)
        let outcome = sync.failure.map { "\($0)" } ?? "ok"
        let parts = sync.time.components
        CoreMetrics.Timer(
            label: "tidemark_feed_sync_time",
            dimensions: [("context", sync.context), ("outcome", outcome)]
        ).recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }

    /// Writes a line for each event to the client's log, while `Firestore.enableLogging(_:)` is on:
    /// on Apple's systems to `os.Logger`, if the log's destination is `LogSink.system`.
    public static let log = Observer { event in Log.debug(event.text) }
}
