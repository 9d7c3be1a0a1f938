public import TidemarkModel

/// A position between the items of a feed, which are ordered by item time and then by path. Every
/// position is between two items.
public struct CoveragePosition: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// The position before all items of the time.
        case start
        case before(DocumentPath)
        case after(DocumentPath)
        /// The position after all items of the time.
        case end
    }

    public let time: Timestamp
    let place: Place
    /// The place among the items of the same time.
    package var side: Place { place }

    init(_ time: Timestamp, _ place: Place) {
        self.time = time
        self.place = place
    }

    /// Returns the position before every item with this time.
    public static func start(of time: Timestamp) -> CoveragePosition { Self(time, .start) }
    /// Returns the position after every item with this time, and before every later one.
    public static func end(of time: Timestamp) -> CoveragePosition { Self(time, .end) }
    /// Returns the position directly before the item.
    public static func before(_ time: Timestamp, _ path: DocumentPath) -> CoveragePosition {
        Self(time, .before(path))
    }
    /// Returns the position directly after the item.
    public static func after(_ time: Timestamp, _ path: DocumentPath) -> CoveragePosition {
        Self(time, .after(path))
    }

    /// The position before everything.
    public static let lowest = start(of: .min)
    /// The position after everything.
    public static let highest = end(of: .max)
}

extension CoveragePosition: Comparable {
    public static func < (left: CoveragePosition, right: CoveragePosition) -> Bool {
        if left.time != right.time { return left.time < right.time }
        switch (left.place, right.place) {
        case (.start, .start), (.end, _): return false
        case (.start, _): return true
        case (_, .start): return false
        case (_, .end): return true
        case (.before(let a), .before(let b)), (.after(let a), .after(let b)),
            (.after(let a), .before(let b)):
            return a < b
        case (.before(let a), .after(let b)): return !(b < a)
        }
    }
}
