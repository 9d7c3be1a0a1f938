package import Tidemark

/// A row of a feed, with any content.
package struct FeedRow<Content: Hashable & Sendable>: Hashable, Sendable {
    /// The position in the feed. The newest item is first.
    package let position: PagePosition
    package let content: Content
    package let hasPendingWrites: Bool
    /// True if the item is newer than the consumption mark.
    package private(set) var isUnread = true

    package init(_ position: PagePosition, _ content: Content, hasPendingWrites: Bool) {
        self.position = position
        self.content = content
        self.hasPendingWrites = hasPendingWrites
    }

    package var path: DocumentPath { position.path }
    /// The item's own time; the first instant of year 1 if the field contains no time.
    package var time: Timestamp { ParsedDefinition.time(position.value) ?? .min }

    mutating func mark(consumption: Timestamp?) {
        isUnread = consumption.map(isAbove) ?? true
    }

    /// Returns true if the item is above a mark. A time that the server has not set yet is above
    /// every mark and every time.
    func isAbove(_ mark: Timestamp) -> Bool {
        switch position.value {
        case .timestamp(let time): time > mark
        case .pendingServerTimestamp: true
        default: false
        }
    }

    func isAtLeast(_ base: CoveragePosition) -> Bool { position.isAtLeast(base) }
}

extension PagePosition {
    /// Returns true if this position is at or above `base`. An item without a time is only above
    /// the lowest position.
    package func isAtLeast(_ base: CoveragePosition) -> Bool {
        switch value {
        case .timestamp(let time): base <= .before(time, path)
        case .pendingServerTimestamp: true
        default: base == .lowest
        }
    }

    /// True if the server has not set the time yet. Such a time has no place among the stored
    /// times.
    var isUnsettled: Bool {
        if case .pendingServerTimestamp = value { true } else { false }
    }
}
