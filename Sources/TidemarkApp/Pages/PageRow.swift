package import Tidemark

/// A document's place in a collection that is shown newest first: the value it is ordered by, and
/// its path, both descending.
package struct PagePosition: Hashable, Comparable, Sendable {
    package let value: Value
    package let path: DocumentPath

    package init(value: Value, path: DocumentPath) {
        self.value = value
        self.path = path
    }

    /// Returns true if the left position is shown first. The newest comes first.
    package static func < (left: Self, right: Self) -> Bool {
        let result = Value.compare(left.value, right.value)
        if result != .equal { return result == .descending }
        return DocumentPath.compare(left.path, right.path) == .descending
    }

    /// Returns true if the position is at or below a time. A time that the server has not set yet
    /// is above every other time, and a value that is no time is not below any.
    func isAtMost(_ time: Timestamp) -> Bool {
        if case .timestamp(let its) = value { its <= time } else { false }
    }
}

/// A row of a page, with any content.
package struct PageRow<Content: Hashable & Sendable>: Hashable, Sendable {
    package let position: PagePosition
    package let content: Content
    /// True if the row is marked as deleted, and only keeps its place.
    package let isHidden: Bool
    /// True if the server has not confirmed the row's contents or existence.
    package let isPending: Bool

    package init(
        _ position: PagePosition, _ content: Content, isHidden: Bool = false,
        isPending: Bool = false
    ) {
        self.position = position
        self.content = content
        self.isHidden = isHidden
        self.isPending = isPending
    }

    package var path: DocumentPath { position.path }
}

/// A line between rows, from the newest down.
package enum PageEdge: Hashable, Comparable, Sendable {
    case newest
    case before(PagePosition)
    case after(PagePosition)
    case oldest

    package static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.newest, .newest), (.oldest, _): false
        case (.newest, _): true
        case (_, .newest): false
        case (_, .oldest): true
        case (.before(let a), .before(let b)), (.after(let a), .after(let b)),
            (.after(let a), .before(let b)):
            a < b
        case (.before(let a), .after(let b)): !(b < a)
        }
    }
}

/// The known parts of a collection, as disjoint ranges from the newest row down.
package struct PageCoverage: Hashable, Sendable {
    package private(set) var ranges: [Range<PageEdge>] = []

    package init() {}

    /// The range from the newest row down to the first unknown row; nil if the newest row is
    /// unknown.
    package var top: Range<PageEdge>? { ranges.first { $0.lowerBound == .newest } }

    package mutating func insert(_ range: Range<PageEdge>) {
        if range.isEmpty { return }
        var joined = range
        ranges.removeAll { old in
            guard old.lowerBound <= joined.upperBound, joined.lowerBound <= old.upperBound else {
                return false
            }
            let lower = min(old.lowerBound, joined.lowerBound)
            joined = lower..<max(old.upperBound, joined.upperBound)
            return true
        }
        let place = ranges.firstIndex { joined.lowerBound < $0.lowerBound } ?? ranges.endIndex
        ranges.insert(joined, at: place)
    }

    package mutating func remove(_ range: Range<PageEdge>) {
        if range.isEmpty { return }
        ranges = ranges.flatMap { old in
            [
                (old.lowerBound, min(old.upperBound, range.lowerBound)),
                (max(old.lowerBound, range.upperBound), old.upperBound),
            ].compactMap { lower, upper in lower < upper ? lower..<upper : nil }
        }
    }
}

extension Range<PageEdge> {
    package func contains(_ position: PagePosition) -> Bool {
        lowerBound <= .before(position) && .after(position) <= upperBound
    }
}
