import Testing

@testable import TidemarkHealth

struct `Merging intervals` {
    static let sources = [
        HealthSource(name: "Watch", device: .watch), HealthSource(name: "Phone", device: .phone),
        HealthSource(name: "App", device: .other),
    ]
    static let ranks = SourcePriority().ranks(sources)

    static func sample(
        _ source: Int, _ start: Int64, _ minutes: Int64, _ value: Int64, isEntered: Bool = false
    ) -> PackedSample {
        PackedSample(
            kind: .steps, start: start, duration: UInt32(minutes * 60), value: value * Decimal6.one,
            source: UInt16(source), sourceHash: sources[source].hash, startOffset: 0, endOffset: 0,
            isEntered: isEntered)
    }

    static func pieces(_ samples: [PackedSample]) -> [IntervalMerge.Piece] {
        var merge = IntervalMerge(ranks: ranks)
        var pieces: [IntervalMerge.Piece] = []
        for sample in samples.sorted(by: PackedSample.isBefore) {
            merge.add(sample) { pieces.append($0) }
        }
        merge.finish { pieces.append($0) }
        return pieces
    }

    static func total(_ samples: [PackedSample]) -> Double {
        Double(pieces(samples).reduce(0) { $0 + $1.amount }) / 1_000_000
    }

    @Test func `counts a walk once, by the watch`() {
        let walk = [Self.sample(0, 0, 60, 6_000), Self.sample(1, 0, 60, 5_500)]
        #expect(Self.total(walk) == 6_000)
    }

    @Test func `takes from the phone what the watch did not see`() {
        // Both devices count for half an hour, then only the phone. The total is neither 9,000 nor
        // 6,000.
        let walk = [Self.sample(0, 0, 30, 3_000), Self.sample(1, 0, 60, 6_000)]
        #expect(Self.total(walk) == 6_000)
        let other = [Self.sample(0, 0, 30, 2_000), Self.sample(1, 0, 60, 6_000)]
        #expect(Self.total(other) == 5_000)
    }

    @Test func `believes a person before a device`() {
        let entered = Self.sample(2, 600, 10, 50, isEntered: true)
        #expect(Self.total([Self.sample(0, 0, 60, 6_000), entered]) == 5_050)
    }

    @Test func `believes the source that is named first`() {
        let ranks = SourcePriority(first: ["App"]).ranks(Self.sources)
        #expect(ranks == [1, 2, 0])
    }

    @Test func `a sample that takes no time counts`() {
        #expect(Self.total([Self.sample(0, 10, 0, 7)]) == 7)
        #expect(Self.total([Self.sample(0, 10, 0, 7), Self.sample(1, 0, 60, 3_600)]) == 3_606)
    }

    /// Applies the rule to every minute alone.
    static func oracle(_ samples: [PackedSample], _ minutes: Range<Int64>) -> [Int: Double] {
        var counted: [Int: Double] = [:]
        for minute in minutes {
            let there = samples.indices.filter { index in
                samples[index].start <= minute * 60 && minute * 60 < samples[index].end
            }
            let winner = there.min { a, b in
                let (a, b) = (samples[a], samples[b])
                if a.isEntered != b.isEntered { return a.isEntered }
                if ranks[Int(a.source)] != ranks[Int(b.source)] {
                    return ranks[Int(a.source)] < ranks[Int(b.source)]
                }
                if a.start != b.start { return a.start > b.start }
                if a.end != b.end { return a.end < b.end }
                return a.identity < b.identity
            }
            guard let winner else { continue }
            let length = Double(samples[winner].end - samples[winner].start) / 60
            counted[winner, default: 0] += Double(samples[winner].value) / 1_000_000 / length
        }
        return counted
    }

    @Test(arguments: UInt64(0)..<200)
    func `is what asking of every minute gives`(seed: UInt64) {
        var dice = TestDice(seed)
        var samples: [PackedSample] = []
        for _ in 0..<Int.random(in: 1...40, using: &dice) {
            let minutes = Int64.random(in: 1...90, using: &dice)
            let sample = Self.sample(
                Int.random(in: 0...2, using: &dice), Int64.random(in: 0...400, using: &dice) * 60,
                minutes, Int64.random(in: 0...100, using: &dice) * minutes,
                isEntered: Int.random(in: 0...9, using: &dice) == 0)
            // A store holds a measurement only once.
            if !samples.contains(where: { $0.isSame(as: sample) }) { samples.append(sample) }
        }
        let pieces = Self.pieces(samples)
        // The pieces are in order and do not overlap.
        for (before, after) in zip(pieces, pieces.dropFirst()) { #expect(before.to <= after.from) }
        let oracle = Self.oracle(samples, 0..<500)
        for (index, sample) in samples.enumerated() {
            let merged = pieces.filter { $0.sample.isSame(as: sample) }
                .reduce(Int64(0)) { $0 + $1.amount }
            #expect(
                merged == Int64(((oracle[index] ?? 0) * 1_000_000).rounded()), "seed \(seed)")
        }
    }

    @Test(arguments: UInt64(0)..<50)
    func `shares of a sample add up to all of it`(seed: UInt64) {
        var dice = TestDice(seed)
        let value = Int64.random(in: 0...Decimal6.limit, using: &dice)
        let sample = PackedSample(
            kind: .steps, start: 1_000, duration: 604_800, value: value, source: 0, sourceHash: 1,
            startOffset: 0, endOffset: 0)
        var cuts = (0..<50).map { _ in Int64.random(in: 1_000...605_800, using: &dice) }
        cuts = ([1_000] + cuts + [605_800]).sorted()
        let shares = zip(cuts, cuts.dropFirst()).map { from, to in
            IntervalMerge.Piece(sample: sample, from: from, to: to).amount
        }
        #expect(shares.reduce(0, +) == value)
    }
}
