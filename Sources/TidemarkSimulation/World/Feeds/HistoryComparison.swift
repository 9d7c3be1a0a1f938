import TidemarkApp
import TidemarkModel
import TidemarkSync

/// Compares a feed's rows with the server's data.
struct HistoryComparison {
    let expected: [DocumentPath: HistoryTruth.Row]
    private(set) var compared = 0
    private(set) var difference: String?
    /// The number of rows that a listener has brought since the last count.
    let brought: Int
    /// True if what is missing and what lingers came out even only with what a listener has
    /// brought.
    private(set) var isExcused = false
    /// True if the feed showed exactly the server's data, even where its way promises less.
    private(set) var isExact = false

    /// - Parameters:
    ///   - unsettled: The documents that changed since, or that the device itself is writing.
    ///   - isSync: True after a sync, when the window must be full if there are more rows.
    init(
        _ feed: HistoryShown, then: HistoryTruth, unsettled: Set<DocumentPath>,
        readTime: Timestamp, promise: HistoryPromise, isSync: Bool
    ) {
        expected = then.items(above: feed.marks.action)
        let shown = Dictionary(uniqueKeysWithValues: feed.rows.map { ($0.path, $0) })
        // What a listener has brought since the last count may have been missing in that.
        brought =
            isSync
            ? 0
            : feed.heard.count { [expected] in shown[$0] != nil && expected[$0] != nil }
        // A bounded feed shows fewer rows than requested while older items are being read.
        let least = isSync ? feed.size : min(feed.size, feed.limit ?? feed.size)
        if feed.hasMore, feed.rows.count < least {
            difference = "shows \(feed.rows.count) of \(feed.size), and says there is more"
            return
        }
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
        // A row that arrived later and was deleted before this comparison did not exist at the
        // compared time.
        let hasLater = feed.rows.contains { expected[$0.path] == nil }
        isExact = missing.isEmpty && stale.isEmpty && lingering.isEmpty && !hasLater
        // What it has taken away since then may have been counted as well.
        let taken =
            isSync
            ? 0
            : feed.heard.count { [expected] in shown[$0] == nil && expected[$0] == nil }
        let isBalanced = promise.cancels(
            missing: missing.count...(missing.count + brought),
            lingering: lingering.count...(lingering.count + taken))
        if isBalanced {
            isExcused = !promise.cancels(
                missing: missing.count...missing.count, lingering: lingering.count...lingering.count
            )
            return
        }
        // A count cannot distinguish changes that cancel out, so it says nothing about a part of
        // the items.
        if promise.way == .countAudit, feed.hasMore || !unsettled.isEmpty { return }
        say("lacks", paths: missing.filter { !promise.mayMiss($0) }, feed: feed)
        say("shows an old", paths: stale.filter { !promise.mayBeStale($0) }, feed: feed)
        say("still shows", paths: lingering.filter { !promise.mayLinger($0) }, feed: feed)
    }

    private mutating func say(
        _ what: String, paths: [DocumentPath], feed: HistoryShown
    ) {
        if paths.isEmpty || difference != nil { return }
        let there = expected.values.sorted { $0.position < $1.position }.map { $0.position.path.id }
        difference =
            "\(what) \(paths.map(\.id).sorted()): it shows \(feed.rows.map(\.path.id)), "
            + "there is \(there)"
            + (brought > 0 ? ", and its listener has brought \(brought) since the last count" : "")
    }
}
