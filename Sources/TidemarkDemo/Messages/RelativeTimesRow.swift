import Foundation
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkModel

/// A list of messages that shows the age of each message, and updates the texts while it is open.
struct RelativeTimesRow: ScenarioRow {
    /// The duration of a simulated minute.
    private static let minute = Duration.milliseconds(50)
    private static let minutes: Int64 = 3
    /// The journey's table of texts by age in seconds, on both sides of every boundary.
    private static let texts: [(Int64, String)] = [
        (-5, "Now"), (0, "Now"), (59, "Now"), (60, "1m ago"), (119, "1m ago"), (3_599, "59m ago"),
        (3_600, "1h ago"), (86_399, "23h ago"), (86_400, "Yesterday"), (172_799, "Yesterday"),
        (172_800, "Oct 19"),
    ]

    private let conversation: Conversation

    init(_ events: [HistoryEvent]) { conversation = Conversation("times", events) }

    let slug = "relative-times"
    let name = "relative times, looked at for three minutes"
    var bar: Bar {
        Bar(
            reads: Conversation.pageSize + 1, exactly: ["texts that are wrong": 0])
    }
    var seed: [Mutation] { conversation.seed }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        _ = try await head(side, firestore: firestore) {}
    }

    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        var plan = try await conversation.plan(firestore)
        plan.start()
        return Forecast(plan)
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let shown = try await head(side, firestore: firestore) { visit.sawContent() }
        visit.isUpToDate()
        // 21 October 2026, noon in UTC.
        let start = Timestamp(seconds: 1_792_584_000, nanoseconds: 0)
        let end = start.advanced(by: .seconds(60 * Self.minutes))
        // Both apps update their texts each minute without a read.
        let now = try await watch(from: start, to: end)
        let relative = RelativeTime(timeZone: .gmt)
        let wrong = Self.texts.count { ago, text in
            relative.text(for: end.advanced(by: .seconds(-ago)), at: now) != text
        }
        visit.measured("texts that are wrong", Double(wrong))
        return shown
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        try await conversation.newestTruth(side, server)
    }

    /// Returns the ticker's time after the minutes have passed. The ticker makes no reads.
    @MainActor
    private func watch(from start: Timestamp, to end: Timestamp) async throws -> Timestamp {
        let time = Mutex(start)
        let ticker = Ticker(every: Self.minute, clock: ContinuousClock()) { time.withLock { $0 } }
        let watching = Task { await ticker.watch() }
        defer { watching.cancel() }
        time.withLock { $0 = end }
        do {
            try await within(.seconds(10)) { try await untilShown { ticker.now == end } }
        } catch is TookTooLong {}
        return ticker.now
    }

    private func head(
        _ side: Side, firestore: Firestore, saw: @Sendable () -> Void
    ) async throws -> [ShownItem] {
        if side == .after { return try await conversation.showNewest(firestore, sawContent: saw) }
        let query = conversation.newestFirst(firestore).limit(to: Conversation.pageSize)
        for try await snapshot in query.snapshots(includeMetadataChanges: true) {
            if !snapshot.isEmpty { saw() }
            if !snapshot.metadata.isFromCache { return snapshot.documents.shownItems }
        }
        throw CancellationError()
    }
}
