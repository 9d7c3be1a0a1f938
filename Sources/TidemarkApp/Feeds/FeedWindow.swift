import Tidemark

/// The newest items that a feed holds on disk, as far down as they were read.
///
/// Complete down to its end: whatever changes above that is applied to it, what lies below stays on
/// disk until it is asked for.
struct FeedWindow: Sendable {
    /// Newest first, each once.
    private(set) var items: [FeedItem] = []
    /// How many are wanted; never more are kept.
    var size: Int
    /// Whether there may be more on disk below the end.
    private(set) var hasMore = true
    /// Of the last item that was read, though that may be gone by now; nil before the first read,
    /// and when everything has been read.
    private(set) var end: FeedItem.Position?

    /// - Precondition: `size` is positive.
    init(size: Int) {
        precondition(size > 0)
        self.size = size
    }

    /// How many items are to be read below the end.
    var room: Int { max(0, size - items.count) }

    /// Makes room for more items; as many as there can be at the most.
    mutating func grow(by count: Int) {
        precondition(count >= 0)
        let (sum, overflow) = size.addingReportingOverflow(count)
        size = overflow ? .max : sum
    }

    /// Takes the next items below the end.
    mutating func append(_ next: [FeedItem], hasMore: Bool) {
        // One that moved down since it was read is in both.
        let again = Set(next.map(\.path))
        items.removeAll { again.contains($0.path) }
        items += next
        items.sort { $0.position.precedes($1.position) }
        self.hasMore = hasMore
        end = hasMore ? next.last?.position ?? end : nil
        trim()
    }

    /// Puts documents that changed where they belong now. Costs a pass over the window.
    ///
    /// - Parameter changes: By path; nil for one that is no item any more.
    mutating func apply(_ changes: [DocumentPath: FeedItem?]) {
        if changes.isEmpty { return }
        items.removeAll { changes[$0.path] != nil }
        items += changes.values.compactMap { item in
            guard let item, contains(item.position) else { return nil }
            return item
        }
        items.sort { $0.position.precedes($1.position) }
        trim()
    }

    private func contains(_ position: FeedItem.Position) -> Bool {
        if !hasMore { return true }
        return end.map { !$0.precedes(position) } ?? false
    }

    private mutating func trim() {
        guard items.count > size else { return }
        items.removeLast(items.count - size)
        end = items.last?.position
        hasMore = true
    }

    /// Hides what was cleared and tells apart what was consumed.
    mutating func apply(_ marks: Marks) {
        if let action = marks.action { items.removeAll { !$0.isAbove(action) } }
        for index in items.indices { items[index].mark(consumption: marks.consumption) }
    }

    /// How many are unread; nil when there may be unread ones below the end.
    var unreadCount: Int? {
        if hasMore, items.last?.isUnread ?? true { return nil }
        return items.count(where: \.isUnread)
    }
}
