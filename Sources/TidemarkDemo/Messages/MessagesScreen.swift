import MessagesCore
import TidemarkApp
import TidemarkModel
import TidemarkResilience

extension [Message] {
    /// The shown messages, with the times of their last changes as versions.
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
    /// True if the newest page is present and confirmed by the server.
    var isUpToDate: Bool { phase == .fresh && !pages.isLoadingMore }

    /// Requests the next older page, as the last row does when it appears, and waits until the page
    /// is on the screen.
    ///
    /// - Parameter times: The number of concurrent requests.
    /// - Returns: The duration.
    @discardableResult
    func showOlder(askingTimes times: Int = 1) async throws -> Duration {
        let start = ContinuousClock.now
        let count = items.count
        for _ in 0..<times { loadMore() }
        try await untilShown { self.isPage(beyond: count) || self.pages.error != nil }
        while !isPage(beyond: count) {
            // The screen shows that the page has failed, and the user requests it again.
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
    /// Pulls down to refresh, and repeats this while the screen shows a problem.
    func refreshUntilDone() async throws {
        retry.delayScale = Visit.retryScale
        repeat {
            try Task.checkCancellation()
            await refresh()
        } while problem != nil
    }

    /// Pages to the first message.
    ///
    /// - Parameter beforeEach: Called before each page is requested.
    /// - Returns: The duration of each page.
    func showAll(beforeEach: () async throws -> Void = {}) async throws -> [Duration] {
        var pages: [Duration] = []
        while messages.hasMore {
            try await beforeEach()
            pages.append(try await messages.showOlder())
        }
        return pages
    }
}
