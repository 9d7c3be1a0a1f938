import Testing
import TidemarkModel

@testable import TidemarkSync

/// Compares coverage with the simplest model: for each place between two items of a small world,
/// the time as of which the place is held.
struct `Coverage as an algebra` {
    /// The positions of a world with four times and two paths at each, ascending.
    static let positions: [CoveragePosition] = {
        let paths = ["c/a", "c/b"].map { DocumentPath(unchecked: $0) }
        var inner: [CoveragePosition] = []
        for second in Int64(1)...4 {
            let time = Timestamp(seconds: second, nanoseconds: 0)
            inner.append(.start(of: time))
            for path in paths { inner += [.before(time, path), .after(time, path)] }
            inner.append(.end(of: time))
        }
        return [.lowest] + inner + [.highest]
    }()

    /// The time as of which each interval between two neighboring positions is held.
    struct Cells: Equatable {
        var asOf = [Timestamp?](repeating: nil, count: positions.count - 1)

        init() {}

        init(_ coverage: Coverage) {
            for cell in asOf.indices {
                asOf[cell] =
                    coverage.intervals.first {
                        $0.lower <= positions[cell] && positions[cell] < $0.upper
                    }?.asOf
            }
        }
    }

    private static func isCanonical(_ coverage: Coverage) -> Bool {
        let intervals = coverage.intervals
        return intervals.allSatisfy { $0.lower < $0.upper }
            && zip(intervals, intervals.dropFirst()).allSatisfy { a, b in
                a.upper < b.lower || (a.upper == b.lower && a.asOf != b.asOf)
            }
    }

    private static func range(_ random: inout SeededRandom) -> Range<Int> {
        let a = Int.random(in: positions.indices, using: &random)
        let b = Int.random(in: positions.indices, using: &random)
        return min(a, b)..<max(a, b)
    }

    private static func step(
        _ coverage: inout Coverage, _ cells: inout Cells, _ random: inout SeededRandom
    ) {
        let range = range(&random)
        let asOf = Timestamp(seconds: .random(in: 100...103, using: &random), nanoseconds: 0)
        let bounds = positions[range.lowerBound]..<positions[range.upperBound]
        switch Int.random(in: 0..<10, using: &random) {
        case 0...5:
            coverage.insert(bounds, asOf: asOf)
            for cell in range { cells.asOf[cell] = max(cells.asOf[cell] ?? asOf, asOf) }
        case 6:
            coverage.cut(below: bounds.lowerBound)
            for cell in 0..<range.lowerBound { cells.asOf[cell] = nil }
        case 7, 8:
            coverage.remove(bounds)
            for cell in range { cells.asOf[cell] = nil }
        default:
            coverage.confirm(asOf: asOf)
            cells.asOf = cells.asOf.map { $0.map { max($0, asOf) } }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func `is what its cells say after any operations`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var coverage = Coverage()
        var cells = Cells()
        for _ in 0..<40 {
            Self.step(&coverage, &cells, &random)
            try #require(Cells(coverage) == cells, "seed \(seed)")
            try #require(Self.isCanonical(coverage), "seed \(seed): \(coverage.intervals)")
            let range = Self.range(&random)
            let bounds = Self.positions[range.lowerBound]..<Self.positions[range.upperBound]
            var gaps = Cells()
            for gap in coverage.gaps(in: bounds) {
                for cell in range
                where gap.lowerBound <= Self.positions[cell]
                    && Self.positions[cell] < gap.upperBound
                {
                    gaps.asOf[cell] = .epoch
                }
            }
            for cell in range {
                try #require((gaps.asOf[cell] == nil) == (cells.asOf[cell] != nil), "seed \(seed)")
            }
            #expect(coverage.contains(bounds) == range.allSatisfy { cells.asOf[$0] != nil })
        }
    }

    @Test(arguments: UInt64(0)..<50)
    func `is one union in any order and any grouping`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let parts = (0..<3).map { _ in
            var coverage = Coverage()
            var cells = Cells()
            for _ in 0..<6 { Self.step(&coverage, &cells, &random) }
            return coverage
        }
        func union(_ order: [Int]) -> Coverage {
            order.reduce(into: Coverage()) { $0.formUnion(parts[$1]) }
        }
        #expect(union([0, 1, 2]) == union([2, 0, 1]))
        #expect(union([0, 1, 2]) == union([0, 0, 1, 2, 1]))
        var inner = parts[1]
        inner.formUnion(parts[2])
        var outer = parts[0]
        outer.formUnion(inner)
        #expect(outer == union([0, 1, 2]))
    }

    @Test(arguments: UInt64(0)..<50)
    func `is the same from its intervals, in order, shuffled and cut in two`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var coverage = Coverage()
        var cells = Cells()
        for _ in 0..<8 { Self.step(&coverage, &cells, &random) }
        let whole = coverage.intervals
        #expect(Coverage(whole) == coverage)
        #expect(Coverage(whole.shuffled(using: &random)) == coverage)
        // Two intervals that touch and have the same time become one again.
        let halves = whole.flatMap { interval in
            let middle = Self.positions.first { interval.lower < $0 && $0 < interval.upper }
            guard let middle else { return [interval] }
            return [(interval.lower, middle), (middle, interval.upper)].map {
                Coverage.Interval(lower: $0.0, upper: $0.1, asOf: interval.asOf)
            }
        }
        #expect(Coverage(halves) == coverage)
    }

    @Test func `breaks ties at equal times by path`() {
        let time = Timestamp(seconds: 5, nanoseconds: 0)
        let (a, b) = (DocumentPath(unchecked: "c/a"), DocumentPath(unchecked: "c/b"))
        var coverage = Coverage()
        coverage.insert(.before(time, b)..<CoveragePosition.highest, asOf: time)
        #expect(coverage.asOf(time, b) == time)
        #expect(coverage.asOf(time, a) == nil)
        coverage.insert(.lowest..<CoveragePosition.after(time, a), asOf: time)
        #expect(coverage.gaps(in: .lowest..<CoveragePosition.highest).count == 1)
        coverage.insert(.after(time, a)..<CoveragePosition.before(time, b), asOf: time)
        #expect(coverage.intervals.count == 1, "adjacent intervals of one time are one")
    }

    @Test func `positions are in one strict order`() {
        let positions = Self.positions
        for (i, a) in positions.enumerated() {
            for (j, b) in positions.enumerated() {
                #expect((a < b) == (i < j), "\(a) \(b)")
                #expect((a == b) == (i == j))
            }
        }
    }
}
