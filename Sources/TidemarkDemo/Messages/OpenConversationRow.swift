import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation that is opened with a live newest page, and without an unlimited listener.
struct OpenConversationRow: ScenarioRow {
    private let conversation: Conversation
    private let new: [HistoryEvent]

    init(_ events: [HistoryEvent], new: Int) {
        conversation = Conversation("opened", Array(events.dropLast(new)))
        self.new = Array(events.suffix(new))
    }

    let slug = "open-conversation"
    var name: String {
        let count = conversation.events.count + new.count
        return "open a conversation of \(grouped(count)) with \(new.count) new, its head live"
    }
    var bar: Bar {
        Bar(
            reads: Conversation.pageSize + 1,
            // This is the journey's former goal, here for the first screenful.
            times: ["load ms": 1_000])
    }
    var seed: [Mutation] { conversation.seed }
    var news: [Mutation] { sides.flatMap { conversation.arrivals(new[...], $0) } }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        case .before, .filtered: _ = try await listen(firestore) {}
        case .after: _ = try await conversation.showNewest(firestore) {}
        }
    }

    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        var plan = try await conversation.plan(firestore, news)
        plan.start()
        return Forecast(plan)
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before, .filtered:
            let shown = try await listen(firestore) { visit.sawContent() }
            visit.isUpToDate()
            visit.measuredLoad()
            return shown
        case .after:
            let shown = try await conversation.showNewest(firestore) { visit.sawContent() }
            visit.isUpToDate()
            visit.measuredLoad()
            return shown
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        switch side {
        case .before, .filtered: return try await conversation.truth(side, server)
        case .after: return try await conversation.newestTruth(side, server)
        }
    }

    /// Plays the app as it was: a listener on all messages, without an end.
    private func listen(
        _ firestore: Firestore, sawContent: () -> Void
    ) async throws -> [ShownItem] {
        let query = conversation.newestFirst(firestore)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in query.snapshots(includeMetadataChanges: true) {
            if !snapshot.metadata.isFromCache { return snapshot.documents.shownItems }
            if !snapshot.isEmpty { sawContent() }
        }
        throw CancellationError()
    }
}
