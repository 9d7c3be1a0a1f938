package import TidemarkModel

extension SeededRandom {
    /// Returns a number in `0 ..< sides`.
    package mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
    /// - Parameter percent: A number in `0 ... 100`.
    package mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
    package mutating func pick<T>(_ values: [T]) -> T { values[roll(values.count)] }

    /// Returns a random element. The weights are relative frequencies, and at least one is
    /// positive.
    package mutating func pick<T>(weighted values: [(T, Int)]) -> T {
        var rest = roll(values.reduce(0) { $0 + $1.1 })
        for (value, weight) in values {
            if rest < weight { return value }
            rest -= weight
        }
        preconditionFailure("the weights add up")
    }

    package mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &self))
    }
}
