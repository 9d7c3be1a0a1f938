import CoreMetrics
import Tidemark

/// The metrics of the marks and reads of feeds, for swift-metrics. Without a backend, nothing is
/// stored.
///
/// - `tidemark_marks`, by `mark` (`action`, `consumption`) and `outcome` (`moved`, `clamped`,
///   `ignored`, `reset`; `received` for a move of another device, `used`, `dropped`, `not_shared`).
/// - `tidemark_feed_hidden`: the number of documents that change times had hidden.
/// - `tidemark_feed_calls`: the number of calls to a server that feeds have planned.
enum FeedMetrics {
    static func count(_ event: FeedEvent) {
        switch event {
        case .moved(let moved, let move): mark("\(moved)", name(of: move))
        case .received: mark("action", "received")
        case .used: mark("action", "used")
        case .dropped: mark("action", "dropped")
        case .notShared: mark("action", "not_shared")
        case .foundByAudit(let count):
            CoreMetrics.Counter(label: "tidemark_feed_hidden").increment(by: count)
        case .asked: CoreMetrics.Counter(label: "tidemark_feed_calls").increment()
        }
    }

    private static func mark(_ mark: String, _ outcome: String) {
        CoreMetrics.Counter(
            label: "tidemark_marks", dimensions: [("mark", mark), ("outcome", outcome)]
        ).increment()
    }

    static func name(of move: Marks.Move) -> String {
        switch move {
        case .moved: "moved"
        case .clamped: "clamped"
        case .ignored: "ignored"
        case .reset: "reset"
        }
    }
}
