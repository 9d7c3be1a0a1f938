public import TidemarkModel

/// A place between the items of a feed, whose order is item time and, at equal times, the document's
/// path. No item stands on a position; each stands between two.
public struct CoveragePosition: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Before all items of the time.
        case start
        case before(DocumentPath)
        case after(DocumentPath)
        /// After all items of the time.
        case end
    }

    public let time: Timestamp
    let place: Place
    /// Where it lies among the items of its time.
    package var side: Place { place }

    init(_ time: Timestamp, _ place: Place) {
        self.time = time
        self.place = place
    }

    /// Before every item with this time.
    public static func start(of time: Timestamp) -> CoveragePosition { Self(time, .start) }
    /// After every item with this time, and before every later one.
    public static func end(of time: Timestamp) -> CoveragePosition { Self(time, .end) }
    /// Just before the item.
    public static func before(_ time: Timestamp, _ path: DocumentPath) -> CoveragePosition {
        Self(time, .before(path))
    }
    /// Just after the item.
    public static func after(_ time: Timestamp, _ path: DocumentPath) -> CoveragePosition {
        Self(time, .after(path))
    }

    /// Before everything there can be.
    public static let lowest = start(of: .min)
    /// After everything there can be.
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
