import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation that was paged to its end before is paged again, after something has changed in it.
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
    /// The live head, and what changed.
    var bar: Bar {
        Bar(
            reads: Conversation.pageSize + 2 * arriving.count + 1, mostInRelease: ["page ms": 5])
    }
    var seed: [Mutation] { conversation.seed }
    var news: [Mutation] {
        Side.allCases.flatMap { side in
            arriving.enumerated().flatMap { index, event in
                let old = conversation.events[conversation.events.count / 2 + index]
                return [
                    conversation.insert(event, side),
                    index.isMultiple(of: 2)
                        ? conversation.edit(old, index, side)
                        : conversation.markDeleted(old, side),
                ]
            }
        }
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        // It asks the server whatever it holds.
        case .before: break
        case .after:
            let pager = try pager(firestore)
            _ = try await page(pager)
            pager.close()
        }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try visit.firestore()
        switch side {
        case .before: return try await pageByCursor(firestore, visit)
        case .after: return try await pageFromDisk(firestore, visit)
        }
    }

    private func pageFromDisk(
        _ firestore: Firestore, _ visit: Visit
    ) async throws -> [ShownItem] {
        let pager = try pager(firestore)
        defer { pager.close() }
        _ = try await pager.first { !$0.items.isEmpty }
        visit.sawContent()
        try await visit.untilOnline()
        try await visit.retrying { try await pager.refresh() }
        let pages = try await page(pager)
        let truth = try await conversation.truth(.after, visit.direct)
        try await settling {
            _ = try await pager.first { Difference($0.items.shownItems, against: truth).isNone }
        }
        visit.isUpToDate()
        visit.measured("pages", Double(pages.count))
        visit.measured("page ms", pages.median?.milliseconds ?? .infinity)
        visit.measured("slowest page ms", pages.max()?.milliseconds ?? .infinity)
        return pager.current.items.shownItems
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        try await conversation.truth(side, server)
    }

    private func pager(_ firestore: Firestore) throws -> Pager {
        try conversation.pager(
            firestore, .after,
            pagesFromDisk: .keptRight(
                changeTime: ItemFields.updatedAt, deletedField: ItemFields.deletedAt))
    }

    /// To the end.
    ///
    /// - Returns: What each page took.
    private func page(_ pager: Pager) async throws -> [Duration] {
        var pages: [Duration] = []
        var state = try await pager.first { !$0.isFromCache && !$0.isLoadingMore }
        while state.hasMore {
            let start = ContinuousClock.now
            let count = state.items.count
            pager.loadMore()
            state = try await pager.first {
                !$0.isLoadingMore && ($0.items.count > count || !$0.hasMore)
            }
            pages.append(.now - start)
        }
        return pages
    }

    /// As the app had it: each page from the server, every time.
    private func pageByCursor(
        _ firestore: Firestore, _ visit: Visit
    ) async throws -> [ShownItem] {
        let query = conversation.newestFirst(firestore, .before).limit(to: Conversation.pageSize)
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
