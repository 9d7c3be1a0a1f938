import ChatsCore
import Tidemark
import TidemarkApp

extension FeedModel {
    /// Whether the screen says that this is what the server has.
    var isFresh: Bool { if case .fresh = phase { true } else { false } }

    /// Waits as a person does who has opened the screen: for content, then for what is new.
    func untilFresh(sawContent: @Sendable () -> Void = {}) async throws {
        try await untilShown { !self.items.isEmpty || self.isFresh }
        if !items.isEmpty { sawContent() }
        try await untilShown { self.isFresh }
    }

    /// Scrolls to the oldest, or as far as the device holds them. A person sees the window; here all of it is
    /// compared with the server.
    func show(atMost held: Int = .max) async throws -> [ShownItem] {
        while hasMore, items.count < held {
            try await loadMore(min(1_000_000, held - items.count))
        }
        return items.map(\.item.document).shownItems
    }
}

extension ChatModel {
    /// Scrolls up until so many are shown: at first those that the phone holds, and what is older when
    /// somebody asks for it.
    func show(
        upTo count: Int = ChatsApp.heldMessages, _ visit: Visit
    ) async throws -> [ShownItem] {
        while messages.hasMore, messages.items.count < count {
            await loadEarlier()
            // The person asks again, once there is a network.
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
    /// As of a feed.
    func untilFresh(sawContent: @Sendable () -> Void = {}) async throws {
        try await untilShown { !self.users.isEmpty || self.phase.isFresh }
        if !users.isEmpty { sawContent() }
        try await untilShown { self.phase.isFresh }
    }
}

extension ListPhase {
    fileprivate var isFresh: Bool { self == .fresh || self == .empty }
}
