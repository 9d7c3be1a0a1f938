import MessagesCore
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkModel

/// A new device that pages a conversation to its first message, while messages arrive, change and
/// vanish.
struct PagingRow: ScenarioRow {
    private let conversation: Conversation
    private let arriving: [HistoryEvent]

    init(_ events: [HistoryEvent], arriving: Int) {
        conversation = Conversation("paged", Array(events.dropLast(arriving)))
        self.arriving = Array(events.suffix(arriving))
    }

    let slug = "page-conversation"
    var name: String {
        "page a conversation of \(grouped(conversation.events.count)) by 50 while it changes"
    }
    /// The reads are one for each message, at most two for each change, and one for the page that
    /// finds nothing. A change is read once, and again if its message was live and is also part of
    /// the query for the changes of all pages.
    var bar: Bar {
        var bar = Bar(
            reads: conversation.events.count + 2 * changes(.after).joined().count + 1,
            showsContentOffline: false)
        bar.timesOn[.threeG] = ["page ms": 1_000]
        // The network loses a packet of every fifth page, and the page waits for the repeat. The
        // median of a few pages could be such a page.
        if conversation.events.count >= 20 * Conversation.pageSize {
            bar.timesOn[.threeG]?["page in round trips"] = 1.2
        }
        return bar
    }
    var seed: [Mutation] { conversation.seed }

    /// Returns the changes after each page: a new message at the head, and an edit or a delete of
    /// an old message that is already shown or not yet shown.
    private func changes(_ side: Side) -> [[Mutation]] {
        let old = conversation.events
        return arriving.enumerated().map { index, event in
            var mutations = [conversation.insert(event, side)]
            let shown = old[max(0, old.count - 1 - 7 * (index + 1))]
            let coming = old[min(old.count - 1, 3 * index)]
            switch index % 4 {
            case 0: mutations.append(conversation.edit(shown, number: index, side: side))
            case 1: mutations.append(delete(shown, side))
            case 2: mutations.append(conversation.edit(coming, number: index, side: side))
            default: mutations.append(delete(coming, side))
            }
            return mutations
        }
    }

    /// Deletes a message. The app as it was really deleted it; the app on Tidemark marks it.
    private func delete(_ event: HistoryEvent, _ side: Side) -> Mutation {
        switch side {
        case .before, .filtered: Mutation(path: conversation.path(event, side), .delete)
        case .after: conversation.markDeleted(event, side)
        }
    }

    /// Predicts each page, the changes that the live newest page receives between two pages, and
    /// those that the refresh at the end finds.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        var written = WrittenDocuments(conversation.seed)
        var plan = try await conversation.plan(firestore)
        var changes = changes(.after)[...]
        func happen(_ mutations: [Mutation]) {
            for mutation in mutations {
                written.play(mutation)
                plan.commit(
                    conversation.expected(written, [mutation.path], at: Conversation.planned))
            }
        }
        plan.start()
        while plan.hasMore {
            if let next = changes.popFirst() { happen(next) }
            plan.loadMore()
        }
        for next in changes { happen(next) }
        plan.refresh()
        return Forecast(plan)
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before, .filtered: return try await pageBesideListener(firestore, visit)
        case .after: return try await page(firestore, visit)
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        try await conversation.truth(side, server)
    }

    @MainActor
    private func page(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let model = try conversation.open(firestore)
        defer { model.close() }
        try await untilShown { !model.shown.isEmpty && model.messages.isUpToDate }
        visit.sawContent()
        var changes = changes(.after)[...]
        let pages = try await model.showAll {
            if let next = changes.popFirst() { try await visit.happens(next) }
        }
        for next in changes { try await visit.happens(next) }
        // Refresh to read the changes in the pages that are not live.
        try await model.refreshUntilDone()
        let truth = try await conversation.truth(.after, visit.direct)
        try await settling {
            try await untilShown { Difference(model.shown.shownItems, against: truth).isNone }
        }
        visit.isUpToDate()
        try await visit.measuredPages(pages, like: conversation.newestPage(.after))
        return model.shown.shownItems
    }

    /// Plays the app as it was: careful pages by cursor, and an unlimited listener at the same
    /// time.
    private func pageBesideListener(
        _ firestore: Firestore, _ visit: Visit
    ) async throws -> [ShownItem] {
        let query = conversation.newestFirst(firestore)
        let (live, input) = AsyncStream.makeStream(
            of: [ShownItem].self, bufferingPolicy: .bufferingNewest(1))
        // tidemark:ignore unbounded-listener,listener-error-ignored the app as it was
        let registration = query.addSnapshotListener { snapshot, _ in
            if let snapshot { input.yield(snapshot.documents.shownItems) }
        }
        defer { registration.remove() }
        var changes = changes(.before)[...]
        var pages: [Duration] = []
        var last: QueryDocumentSnapshot?
        repeat {
            if let next = changes.popFirst() { try await visit.happens(next) }
            let start = ContinuousClock.now
            let page = query.limit(to: Conversation.pageSize)
            let next = last.map { page.start(afterDocument: $0) } ?? page
            let documents = try await visit.retrying {
                try await next.getDocuments(source: .server, within: .seconds(30)).documents
            }
            visit.sawContent()
            pages.append(.now - start)
            last = documents.count < Conversation.pageSize ? nil : documents.last
        } while last != nil
        for next in changes { try await visit.happens(next) }
        let truth = try await conversation.truth(.before, visit.direct)
        let shown = Mutex<[ShownItem]>([])
        try await settling {
            for await items in live {
                shown.withLock { $0 = items }
                if Difference(items, against: truth).isNone { return }
            }
        }
        visit.isUpToDate()
        try await visit.measuredPages(pages, like: conversation.newestPage(.before))
        return shown.withLock { $0 }
    }
}
