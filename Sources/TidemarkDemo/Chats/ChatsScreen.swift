import ChatsCore
import Tidemark
import TidemarkApp

extension FeedModel {
    /// True if the screen says that it shows the server's content.
    var isFresh: Bool { if case .fresh = phase { true } else { false } }

    /// Waits for content and then for the server's answer, as a user does after opening the screen.
    func untilFresh(sawContent: @Sendable () -> Void = {}) async throws {
        try await untilShown { !self.items.isEmpty || self.isFresh }
        if !items.isEmpty { sawContent() }
        try await untilShown { self.isFresh }
    }

    /// Scrolls to the oldest item, or as far as the device holds the list. A user sees only the
    /// window, but the demo compares all items with the server.
    func show(atMost held: Int = .max) async throws -> [ShownItem] {
        while hasMore, items.count < held {
            try await loadMore(min(1_000_000, held - items.count))
        }
        return items.map(\.item.document).shownItems
    }
}

extension ChatModel {
    /// Scrolls up until `count` messages are shown. The phone holds the newest ones, and older ones
    /// are read on request.
    func show(
        upTo count: Int = ChatsApp.heldMessages, _ visit: Visit
    ) async throws -> [ShownItem] {
        while messages.hasMore, messages.items.count < count {
            await loadEarlier()
            // A user asks again when there is a network.
            if problem != nil { try await visit.untilOnline() }
            try Task.checkCancellation()
        }
        return messages.items.map(\.item.document).shownItems
    }
}

extension ChatListModel {
    var isFresh: Bool { if case .fresh = phase { true } else { false } }
}

extension OnlineUsersModel {
    /// Waits as the function of a feed does.
    func untilFresh(sawContent: @Sendable () -> Void = {}) async throws {
        try await untilShown { !self.users.isEmpty || self.phase.isFresh }
        if !users.isEmpty { sawContent() }
        try await untilShown { self.phase.isFresh }
    }
}

extension ListPhase {
    fileprivate var isFresh: Bool { self == .fresh || self == .empty }
}
