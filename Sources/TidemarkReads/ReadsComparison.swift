package import TidemarkModel

/// The result of a comparison of a run with a file: the lines that grew, and the lines that shrank.
///
/// A line that the file lacks has grown, unless it takes the place of a line without reads: another
/// query of the same caller on the same collection, or the same query of a renamed caller. Its
/// reads are then compared with those of that line.
package struct ReadsComparison: Hashable, Sendable {
    /// A line whose reads are not those of the file.
    package struct Difference: Hashable, Sendable {
        /// The line of the file; nil for a new line.
        package let kept: KeptLine?
        /// The line of the run; nil if the run has no such line.
        package let seen: RunLine?

        package var key: ReadKey { seen?.key ?? kept!.key }

        /// The reads above the most of the file, or, if negative, below the least.
        package var change: Int { change(of: .reads) }

        /// Returns a number above the most of the file, or, if negative, below the least. The units
        /// of a database of the Standard edition do not change.
        package func change(of measure: ReadMeasure) -> Int {
            let now = seen.map(measure.of) ?? 0
            let allowed = kept.map(measure.range) ?? 0...0
            return now > allowed.upperBound
                ? now - allowed.upperBound : min(0, now - allowed.lowerBound)
        }

        /// True if a number is above what the file allows.
        var hasGrown: Bool { ReadMeasure.allCases.contains { change(of: $0) > 0 } }
        /// True if no number is above, and one is below.
        var hasShrunk: Bool {
            !hasGrown && ReadMeasure.allCases.contains { change(of: $0) < 0 }
        }
        /// The sum of all changes, for the order of lines.
        var weight: Int { ReadMeasure.allCases.reduce(0) { $0 + abs(change(of: $1)) } }

        /// The line whose place the new line takes; nil if the line itself is in the file.
        package var replaced: ReadKey? {
            guard let kept, let seen, kept.key != seen.key else { return nil }
            return kept.key
        }

        init(kept: KeptLine?, seen: RunLine?) {
            precondition(kept != nil || seen != nil)
            self.kept = kept
            self.seen = seen
        }
    }

    /// The lines with more reads than the file allows, the highest growth first.
    package let grown: [Difference]
    /// The lines with fewer reads than in the file, the highest saving first.
    package let shrunk: [Difference]
    /// The lines that took the place of others, with the same reads.
    package let moved: [Difference]
    /// The number of lines with the reads of the file.
    package let same: Int
    /// The reads of the run.
    package let reads: Int
    /// The most reads that the file allows.
    package let allowed: Int
    /// The edition of the file and of the run.
    package let edition: DatabaseEdition
    /// The sum of each measure in the run, and the most that the file allows.
    let sums: [ReadMeasure: Sum]

    struct Sum: Hashable, Sendable {
        let seen: Int
        let allowed: Int
    }

    /// - Parameter seen: The lines of the run, each key once.
    package init(_ file: ReadsFile, _ seen: [RunLine]) {
        let pairs = LinePairs(file.lines, seen).all
        let changed = pairs.filter { $0.weight != 0 }.sorted {
            ($1.weight, $0.key) < ($0.weight, $1.key)
        }
        grown = changed.filter(\.hasGrown)
        shrunk = changed.filter(\.hasShrunk)
        moved = pairs.filter { $0.weight == 0 && $0.replaced != nil }.sorted { $0.key < $1.key }
        same = pairs.count - changed.count - moved.count
        reads = seen.reduce(0) { $0 + $1.reads }
        allowed = file.most
        edition = file.edition
        sums = Dictionary(
            uniqueKeysWithValues: ReadMeasure.allCases.map { measure in
                let allowed = file.lines.reduce(0) { $0 + measure.range(of: $1).upperBound }
                return (
                    measure, Sum(seen: seen.reduce(0) { $0 + measure.of($1) }, allowed: allowed)
                )
            })
    }

    package enum Verdict: String, Sendable { case grew, shrank, same }

    package var verdict: Verdict {
        if !grown.isEmpty { return .grew }
        return shrunk.isEmpty ? .same : .shrank
    }
}

/// Finds the line of the file for each line of a run.
private struct LinePairs {
    private(set) var all: [ReadsComparison.Difference] = []

    init(_ kept: [KeptLine], _ seen: [RunLine]) {
        let keptByKey = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0) })
        let seenKeys = Set(seen.map(\.key))
        precondition(seenKeys.count == seen.count, "a key occurs twice in a run")
        // The order of the lines decides which lines are paired, so it must not be by chance.
        var new = seen.filter { keptByKey[$0.key] == nil }
            .sorted { ($1.reads, $0.key) < ($0.reads, $1.key) }
        var gone = kept.filter { !seenKeys.contains($0.key) }
            .sorted { ($1.most, $0.key) < ($0.most, $1.key) }
        all = seen.compactMap { line in
            keptByKey[line.key].map { .init(kept: $0, seen: line) }
        }
        pair(&new, &gone) { $0.withoutQuery }
        pair(&new, &gone) { $0.withoutLabel }
        all += new.map { .init(kept: nil, seen: $0) }
        all += gone.map { .init(kept: $0, seen: nil) }
    }

    /// Pairs the new lines and the gone lines that agree in a part of their keys, in order.
    private mutating func pair(
        _ new: inout [RunLine], _ gone: inout [KeptLine], by part: (ReadKey) -> ReadKey
    ) {
        var places = Dictionary(grouping: gone.indices) { part(gone[$0].key) }
        var taken: Set<Int> = []
        new.removeAll { line in
            guard let place = places[part(line.key)]?.first else { return false }
            places[part(line.key)]?.removeFirst()
            taken.insert(place)
            all.append(.init(kept: gone[place], seen: line))
            return true
        }
        gone = gone.indices.filter { !taken.contains($0) }.map { gone[$0] }
    }
}

extension ReadKey {
    fileprivate var withoutQuery: ReadKey {
        ReadKey(label: label, call: call, target: target, query: "")
    }

    fileprivate var withoutLabel: ReadKey {
        ReadKey(label: "", call: call, target: target, query: query)
    }
}
