import TidemarkApp
import TidemarkModel
import TidemarkSync

/// What a feed showed beside what was there.
struct HistoryComparison {
    let expected: [DocumentPath: HistoryTruth.Row]
    private(set) var compared = 0
    private(set) var difference: String?
    /// Whether it showed exactly what was there, also where it need not.
    private(set) var isExact = false

    /// - Parameters:
    ///   - unsettled: What changed since, or is being written by the device itself.
    ///   - isSync: Whether a sync has just ended, so that the window is full where there is more.
    init(
        _ feed: HistoryShown, _ then: HistoryTruth, _ unsettled: Set<DocumentPath>,
        _ readTime: Timestamp, _ promise: HistoryPromise, isSync: Bool
    ) {
        expected = then.items(above: feed.marks.action)
        // While older items are on their way, a bounded feed shows fewer than it is asked for.
        let least = isSync ? feed.size : min(feed.size, feed.limit ?? feed.size)
        if feed.hasMore, feed.rows.count < least {
            difference = "shows \(feed.rows.count) of \(feed.size), and says there is more"
            return
        }
        let shown = Dictionary(uniqueKeysWithValues: feed.rows.map { ($0.path, $0) })
        let end = feed.hasMore ? feed.rows.last?.position : nil
        var missing: [DocumentPath] = []
        var stale: [DocumentPath] = []
        for (path, row) in expected where !unsettled.contains(path) {
            compared += 1
            guard let its = shown[path] else {
                if end.map({ !($0 < row.position) }) ?? true { missing.append(path) }
                continue
            }
            if its.content.number != row.number || its.position != row.position {
                stale.append(path)
            }
        }
        let lingering = feed.rows.filter { row in
            !row.hasPendingWrites && expected[row.path] == nil && !unsettled.contains(row.path)
                && row.content.updateTime <= readTime
        }.map(\.path)
        // A row that came later, and was gone before this was compared, was not there.
        let hasLater = feed.rows.contains { expected[$0.path] == nil }
        isExact = missing.isEmpty && stale.isEmpty && lingering.isEmpty && !hasLater
        // What a listener has brought since the last count may have been missing in that.
        let brought = isSync ? 0 : feed.heard.count { shown[$0] != nil && expected[$0] != nil }
        let balanced = (missing.count...(missing.count + brought)).contains {
            promise.cancels(missing: $0, lingering: lingering.count)
        }
        if balanced { return }
        // What a count does not tell apart says nothing of a part of what is held.
        if promise.way == .countAudit, feed.hasMore || !unsettled.isEmpty { return }
        say("lacks", missing.filter { !promise.mayMiss($0) }, feed)
        say("shows an old", stale.filter { !promise.mayBeStale($0) }, feed)
        say("still shows", lingering.filter { !promise.mayLinger($0) }, feed)
    }

    private mutating func say(
        _ what: String, _ paths: [DocumentPath], _ feed: HistoryShown
    ) {
        if paths.isEmpty || difference != nil { return }
        let there = expected.values.sorted { $0.position < $1.position }.map { $0.position.path.id }
        difference =
            "\(what) \(paths.map(\.id).sorted()): it shows \(feed.rows.map(\.path.id)), "
            + "there is \(there)"
    }
}
