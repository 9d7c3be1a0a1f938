import ChatsCore
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
            let count = items.count
            try await loadMore(min(1_000_000, held - count))
            // The screen hears of them a moment later; asked again, it would read older ones.
            try await untilShown { self.items.count > count || !self.hasMore }
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
            let shown = messages.items.count
            await loadEarlier()
            if problem == nil {
                // The screen hears of them a moment later, as above.
                try await untilShown { self.messages.items.count > shown || !self.messages.hasMore }
            } else {
                // The person asks again, once there is a network.
                try await visit.untilOnline()
            }
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
