import TidemarkModel

typealias Dice = SeededRandom

extension Dice {
    mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
    mutating func pick<T>(_ values: [T]) -> T { values[roll(values.count)] }
}
