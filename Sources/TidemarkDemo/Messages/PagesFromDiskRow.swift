import MessagesCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation that was paged to its end, and is paged again after changes.
struct PagesFromDiskRow: ScenarioRow {
    private let conversation: Conversation
    private let arriving: [HistoryEvent]

    init(_ events: [HistoryEvent], arriving: Int) {
        conversation = Conversation("held", Array(events.dropLast(arriving)))
        self.arriving = Array(events.suffix(arriving))
    }

    let slug = "pages-from-disk"
    var name: String {
        let count = grouped(conversation.events.count)
        return "page a conversation of \(count) again, \(2 * arriving.count) changes later"
    }
    /// The reads are those of the live newest page and of the changes.
    var bar: Bar {
        Bar(
            reads: Conversation.pageSize + 2 * arriving.count + 1, times: ["page ms": 5])
    }
    var seed: [Mutation] { conversation.seed }
    var news: [Mutation] {
        sides.flatMap { side in
            arriving.enumerated().flatMap { index, event in
                let old = conversation.events[conversation.events.count / 2 + index]
                return [
                    conversation.insert(event, side),
                    index.isMultiple(of: 2)
                        ? conversation.edit(old, number: index, side: side)
                        : conversation.markDeleted(old, side),
                ]
            }
        }
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        // The app as it was asks the server every time, so there is nothing to prepare.
        case .before, .filtered: break
        case .after: try await page(firestore)
        }
    }

    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        var plan = try await conversation.plan(firestore, news)
        plan.start()
        while plan.hasMore { plan.loadMore() }
        var forecast = Forecast(plan)
        forecast.addAtMost(
            "changes again: 0", .query([ExpectedRow]()),
            because: "the user's refresh may join the one with which the screen begins")
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before, .filtered: return try await pageByCursor(firestore, visit)
        case .after: return try await pageFromDisk(firestore, visit)
        }
    }

    @MainActor
    private func pageFromDisk(
        _ firestore: Firestore, _ visit: Visit
    ) async throws -> [ShownItem] {
        let model = try conversation.open(firestore)
        defer { model.close() }
        try await untilShown { !model.shown.isEmpty }
        visit.sawContent()
        try await visit.untilOnline()
        try await model.refreshUntilDone()
        try await untilShown { model.messages.isUpToDate }
        let pages = try await model.showAll()
        let truth = try await conversation.truth(.after, visit.direct)
        try await settling {
            try await untilShown { Difference(model.shown.shownItems, against: truth).isNone }
        }
        visit.isUpToDate()
        visit.measured("pages", Double(pages.count))
        visit.measured("page ms", pages.median?.milliseconds ?? .infinity)
        visit.measured("slowest page ms", pages.max()?.milliseconds ?? .infinity)
        return model.shown.shownItems
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        try await conversation.truth(side, server)
    }

    /// Pages to the first message.
    @MainActor
    private func page(_ firestore: Firestore) async throws {
        let model = try conversation.open(firestore)
        defer { model.close() }
        try await untilShown { !model.shown.isEmpty && model.messages.isUpToDate }
        _ = try await model.showAll()
    }

    /// Plays the app as it was: it reads each page from the server, every time.
    private func pageByCursor(
        _ firestore: Firestore, _ visit: Visit
    ) async throws -> [ShownItem] {
        let query = conversation.newestFirst(firestore).limit(to: Conversation.pageSize)
        var shown: [QueryDocumentSnapshot] = []
        var isLast = false
        while !isLast {
            let page = shown.last.map { query.start(afterDocument: $0) } ?? query
            let documents = try await visit.retrying {
                try await page.getDocuments(source: .server, within: .seconds(30)).documents
            }
            shown += documents
            visit.sawContent()
            isLast = documents.count < Conversation.pageSize
        }
        visit.isUpToDate()
        return shown.shownItems
    }
}
