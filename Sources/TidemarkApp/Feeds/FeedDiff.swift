import Tidemark

/// The difference between the last shown state of a reader and the present state.
///
/// To apply the difference to a list: remove ``removed`` and the origins of ``moved``, in
/// descending order; insert ``inserted`` and the targets of ``moved``, in ascending order; then
/// redraw ``updated``.
public struct FeedDiff<Item: Sendable>: Sendable {
    public struct Move: Hashable, Sendable {
        /// The index in the list before.
        public let from: Int
        /// The index in the present list.
        public let to: Int
    }

    /// The present state.
    public let state: TypedFeedState<Item>
    /// Indices in the list before, ascending.
    public let removed: [Int]
    /// Indices in the present list, ascending.
    public let inserted: [Int]
    /// Indices in the present list, ascending, of the items with a changed document or changed
    /// marks. Moved items are included.
    public let updated: [Int]
    /// The moves, sorted by their target. Their number is the minimum.
    public let moved: [Move]

    public var isEmpty: Bool {
        removed.isEmpty && inserted.isEmpty && updated.isEmpty && moved.isEmpty
    }

    init(from old: [FeedItem], to state: TypedFeedState<Item>) {
        self.state = state
        let new = state.items.map(\.item)
        let difference = ListDifference(
            from: old.map(\.id), to: new.map(\.id),
            isUpdated: { old[$0] != new[$1] })
        removed = difference.removed
        inserted = difference.inserted
        updated = difference.updated
        moved = difference.moved.map { Move(from: $0.from, to: $0.to) }
    }
}

/// The difference between two lists of distinct names, with the minimum number of moves. Costs n
/// log n, where n is the length of the longer list.
struct ListDifference {
    private(set) var removed: [Int] = []
    private(set) var inserted: [Int] = []
    private(set) var updated: [Int] = []
    private(set) var moved: [(from: Int, to: Int)] = []

    /// - Parameter isUpdated: Returns true if the old and the new item of a name differ. Takes the
    ///   index in the old list and the index in the new list.
    init(from old: [String], to new: [String], isUpdated: (Int, Int) -> Bool) {
        let places = Dictionary(old.enumerated().map { ($1, $0) }) { first, _ in first }
        let kept = Set(new)
        removed = old.indices.filter { !kept.contains(old[$0]) }
        var common: [(from: Int, to: Int)] = []
        for (to, name) in new.enumerated() {
            guard let from = places[name] else {
                inserted.append(to)
                continue
            }
            common.append((from, to))
            if isUpdated(from, to) { updated.append(to) }
        }
        let still = Self.longestRise(common.map(\.from))
        moved = common.indices.filter { !still.contains($0) }.map { common[$0] }
    }

    /// Returns the indices of a longest rising subsequence. These items can keep their places.
    private static func longestRise(_ values: [Int]) -> Set<Int> {
        // `ends` has, for each length, the index with the least last value. `before` has the
        // predecessor of each index.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: values.count)
        for (index, value) in values.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: Set<Int> = []
        var next = ends.last
        while let index = next {
            result.insert(index)
            next = before[index]
        }
        return result
    }
}

/// The changes of the shown state of a typed feed. Includes diffs in which only the phase or a
/// count differs.
public struct FeedDiffs<Item: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = FeedDiff<Item>
    public typealias Failure = Never

    let feed: Feed

    public struct AsyncIterator: AsyncIteratorProtocol {
        var states: TypedFeedStates<Item>.AsyncIterator
        var shown: [FeedItem] = []

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> FeedDiff<Item>? {
            guard let state = await states.next(isolation: isolation) else { return nil }
            let diff = FeedDiff(from: shown, to: state)
            shown = state.items.map(\.item)
            return diff
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(states: TypedFeedStates(feed: feed).makeAsyncIterator())
    }
}
