import Testing

@testable import TidemarkModel

struct ExactSumTests {
    /// Returns the exact sum, rounded once. Shewchuk's partial sums, as in Python's `math.fsum`,
    /// lose no bit.
    private func reference(_ values: [Double]) -> Double {
        var partials: [Double] = []
        for value in values {
            var (x, kept) = (value, 0)
            for var y in partials {
                if x.magnitude < y.magnitude { swap(&x, &y) }
                let high = x + y
                let low = y - (high - x)
                if low != 0 {
                    partials[kept] = low
                    kept += 1
                }
                x = high
            }
            partials.removeSubrange(kept...)
            partials.append(x)
        }
        guard var high = partials.popLast() else { return 0 }
        while let next = partials.popLast() {
            let x = high
            high = x + next
            let low = next - (high - x)
            guard low != 0 else { continue }
            if let below = partials.last, (low < 0) == (below < 0) {
                let doubled = low * 2
                if high + doubled - high == doubled { high += doubled }
            }
            break
        }
        return high
    }

    private func double(_ dice: inout SeededRandom) -> Double {
        while true {
            let value: Double
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: value = Double(bitPattern: dice.next())
            case 1: value = Double(Int.random(in: -1_000...1_000, using: &dice)) / 8
            case 2: value = Double.random(in: -1...1, using: &dice)
            default: value = Double(bitPattern: dice.next() & 0x800F_FFFF_FFFF_FFFF)
            }
            // A partial sum of the reference must not overflow.
            if value.isFinite, value.magnitude < 0x1p960 { return value }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func `a sum is exact, whatever was added and taken away before`(seed: UInt64) {
        var dice = SeededRandom(seed: seed)
        var sum = ExactSum()
        var parts = [ExactSum(), ExactSum()]
        var values: [Double] = []
        for round in 0..<60 {
            if values.count > 3, Int.random(in: 0..<3, using: &dice) == 0 {
                let gone = values.remove(at: Int.random(in: 0..<values.count, using: &dice))
                sum.remove(.double(gone))
                // Either part may remove the value, because only the sum of both parts counts.
                parts[round % 2].remove(.double(gone))
            } else {
                let value = double(&dice)
                values.append(value)
                sum.add(.double(value))
                parts[(round + 1) % 2].add(.double(value))
            }
            let expected = Value.double(reference(values))
            #expect(sum.total == expected || sum.total == .double(0) && reference(values) == 0)
            var both = parts[0]
            both += parts[1]
            #expect(both.total == sum.total)
        }
    }

    @Test func `what is no number leaves nothing behind`() {
        var sum = ExactSum()
        sum.add(.integer(2))
        sum.add(.string("3"))
        #expect(sum.total == .integer(2))
        sum.add(.double(.nan))
        sum.add(.double(.infinity))
        guard case .double(let total) = sum.total else { return #expect(Bool(false)) }
        #expect(total.isNaN)
        sum.remove(.double(.nan))
        #expect(sum.total == .double(.infinity))
        sum.add(.double(-.infinity))
        sum.remove(.double(.infinity))
        #expect(sum.total == .double(-.infinity))
        sum.remove(.double(-.infinity))
        #expect(sum.total == .integer(2) && sum.average == .double(2))
        sum.remove(.integer(2))
        #expect(sum.average == .null)
    }

    @Test func `integers are exact, and a double where they do not fit`() {
        var sum = ExactSum()
        sum.add(.integer(.max))
        sum.add(.integer(1))
        #expect(sum.total == .double(0x1p63))
        sum.remove(.integer(1))
        #expect(sum.total == .integer(.max))
        sum.add(.double(0.5))
        sum.remove(.double(0.5))
        #expect(sum.total == .integer(.max))
    }

    @Test func `figures say what the server's say`() {
        let rows: [MapValue] = [
            ["a": .integer(1), "b": .double(0.5)], ["a": .double(2.25)],
            ["a": .string("x"), "b": .integer(7)], ["b": .integer(1)], [:],
        ]
        let aggregations = [
            Aggregation(alias: "n", .count(upTo: nil)),
            Aggregation(alias: "s", .sum(FieldPath(name: "a"))),
            Aggregation(alias: "m", .average(FieldPath(name: "b"))),
        ]
        var figures = Figures(of: Figures.fields(of: aggregations))
        figures.add(EncodedFields(["a": .integer(5), "b": .integer(5)]))
        for row in rows { figures.add(EncodedFields(row)) }
        figures.remove(EncodedFields(["a": .integer(5), "b": .integer(5)]))
        #expect(figures.values(aggregations) == Aggregation.evaluate(aggregations, over: rows))
    }
}
