import MessagesCore
import TidemarkApp
import TidemarkModel
import TidemarkResilience

extension [Message] {
    /// What the screen shows, each in the version of its last change.
    var shownItems: [ShownItem] {
        map { ShownItem(id: $0.id ?? "", version: $0.updatedAt ?? .min) }
    }
}

extension [MessagesCore.Conversation] {
    var shownItems: [ShownItem] {
        map { ShownItem(id: $0.id ?? "", version: $0.updatedAt ?? .min) }
    }
}

extension PagedList {
    /// Whether its newest page is there, confirmed by the server.
    var isUpToDate: Bool { phase == .fresh && !pages.isLoadingMore }

    /// Asks for the next older page, as the last row appears, and waits until it is on the screen.
    ///
    /// - Parameter times: How often it is asked for, at once.
    /// - Returns: How long that took.
    @discardableResult
    func showOlder(askingTimes times: Int = 1) async throws -> Duration {
        let start = ContinuousClock.now
        let count = items.count
        for _ in 0..<times { loadMore() }
        try await untilShown { self.isPage(beyond: count) || self.pages.error != nil }
        while !isPage(beyond: count) {
            // The screen says that the page did not come, and the person asks again.
            loadMore()
            try await untilShown { self.pages.error == nil }
            try await untilShown { self.isPage(beyond: count) || self.pages.error != nil }
        }
        return .now - start
    }

    private func isPage(beyond count: Int) -> Bool {
        !pages.isLoadingMore && (items.count > count || !pages.hasMore)
    }
}

extension ConversationModel {
    /// Pulls down to refresh, again when the screen says that it has failed.
    func refreshUntilDone() async throws {
        retry.delayScale = Visit.retryScale
        repeat {
            try Task.checkCancellation()
            await refresh()
        } while problem != nil
    }

    /// Pages to the first message.
    ///
    /// - Parameter beforeEach: What happens before each page is asked for.
    /// - Returns: What each page took.
    func showAll(beforeEach: () async throws -> Void = {}) async throws -> [Duration] {
        var pages: [Duration] = []
        while messages.hasMore {
            try await beforeEach()
            pages.append(try await messages.showOlder())
        }
        return pages
    }
}
