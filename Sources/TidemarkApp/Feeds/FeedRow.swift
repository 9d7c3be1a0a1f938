package import Tidemark

/// One row of a feed, whatever it shows.
package struct FeedRow<Content: Hashable & Sendable>: Hashable, Sendable {
    /// Where it stands in the feed: the newest first.
    package let position: PagePosition
    package let content: Content
    package let hasPendingWrites: Bool
    /// Newer than what the user has consumed.
    package private(set) var isUnread = true

    package init(_ position: PagePosition, _ content: Content, hasPendingWrites: Bool) {
        self.position = position
        self.content = content
        self.hasPendingWrites = hasPendingWrites
    }

    package var path: DocumentPath { position.path }
    /// The item's own time; the first instant of year 1 where the field holds no time.
    package var time: Timestamp { ParsedDefinition.time(position.value) ?? .min }

    mutating func mark(consumption: Timestamp?) {
        isUnread = consumption.map(isAbove) ?? true
    }

    /// A time that the server is still to set is above every mark, as it is above every time.
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
    /// Whether an item here lies above a position; one without a time lies above the lowest alone.
    package func isAtLeast(_ base: CoveragePosition) -> Bool {
        switch value {
        case .timestamp(let time): base <= .before(time, path)
        case .pendingServerTimestamp: true
        default: base == .lowest
        }
    }

    /// A time that the server is still to set has no place among stored ones.
    var isUnsettled: Bool {
        if case .pendingServerTimestamp = value { true } else { false }
    }
}
