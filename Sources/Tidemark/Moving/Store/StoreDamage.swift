/// The damage that a reader of a cache has met, and the keys about which nothing is certain since:
/// in a block that cannot be read, a newer value or a deletion of any of its keys can be lost.
struct StoreDamage {
    /// The maximum number of problems and of ranges. More ranges make everything uncertain.
    private static let most = 1_000

    private struct Range {
        /// The lowest key; nil for the lowest of all.
        var first: [UInt8]?
        /// The highest key; nil for the highest of all.
        var last: [UInt8]?
    }

    private var ranges: [Range] = []
    /// The problems, in the order in which they were met, without repetitions.
    private(set) var problems: [FirebaseStoreError] = []

    var isNone: Bool { problems.isEmpty }

    /// Adds a damaged place.
    ///
    /// - Parameters:
    ///   - first: The lowest key that it can hold; nil for the lowest of all.
    ///   - last: The highest key that it can hold; nil for the highest of all.
    mutating func add(_ problem: FirebaseStoreError, from first: [UInt8]?, through last: [UInt8]?) {
        if problems.count < Self.most, !problems.contains(problem) { problems.append(problem) }
        if ranges.contains(where: { $0.first == first && $0.last == last }) { return }
        ranges.append(Range(first: first, last: last))
        if ranges.count > Self.most { ranges = [Range(first: nil, last: nil)] }
    }

    /// Returns true if a newer entry of the key can be lost.
    func mayHide(_ key: [UInt8]) -> Bool {
        ranges.contains { range in
            (range.first.map { !key.isBefore($0) } ?? true)
                && (range.last.map { !$0.isBefore(key) } ?? true)
        }
    }

    /// Returns true if an entry of a key with the prefix can be lost.
    func mayHideKeys(under prefix: [UInt8]) -> Bool {
        ranges.contains { range in
            let isAbove =
                range.first.map { prefix.isBefore($0) && !$0.starts(with: prefix) } ?? false
            return !isAbove && (range.last.map { !$0.isBefore(prefix) } ?? true)
        }
    }
}
