import Tidemark

/// From what a reader was last shown to what is shown now.
///
/// To apply it to a list: take out ``removed`` and the origins of ``moved``, the last first; put in
/// ``inserted`` and the targets of ``moved``, the first first; then show ``updated`` anew.
public struct FeedDiff<Item: Sendable>: Sendable {
    public struct Move: Hashable, Sendable {
        /// In the list before.
        public let from: Int
        /// In the list now.
        public let to: Int
    }

    /// What is shown now.
    public let state: TypedFeedState<Item>
    /// Ascending, in the list before.
    public let removed: [Int]
    /// Ascending, in the list now.
    public let inserted: [Int]
    /// Ascending, in the list now: items whose document or marks differ, moved ones too.
    public let updated: [Int]
    /// As few as there can be, by their target.
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

/// How one list of distinct names becomes another, with as few moves as there can be. Costs
/// n log n of the longer.
struct ListDifference {
    private(set) var removed: [Int] = []
    private(set) var inserted: [Int] = []
    private(set) var updated: [Int] = []
    private(set) var moved: [(from: Int, to: Int)] = []

    /// - Parameter isUpdated: Whether what is at an index of the old list and at one of the new, of one
    ///   name, differs.
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

    /// Which of them may stay: the indices of a longest part that rises.
    private static func longestRise(_ values: [Int]) -> Set<Int> {
        // Of each length, the index with the least last value, and what comes before each index.
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

/// How what a typed feed shows changes. Diffs in which only the phase or a count differs come too.
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
