import Foundation
import TidemarkModel

typealias Dice = SeededRandom

extension SeededRandom {
    mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
    mutating func pick<T>(_ values: [T]) -> T { values[roll(values.count)] }
}

/// The seeds that these tests use. `TIDEMARK_DISK_SEEDS` replaces the default with a seed, such as
/// `17`, or a range, such as `0..<200`.
enum DiskSeeds {
    static let all: Range<UInt64> = {
        guard let text = ProcessInfo.processInfo.environment["TIDEMARK_DISK_SEEDS"] else {
            return 0..<50
        }
        let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
        guard let first = bounds.first, bounds.count < 3 else {
            preconditionFailure("TIDEMARK_DISK_SEEDS is a seed, or a range as 0..<200")
        }
        return first..<(bounds.count == 2 ? bounds[1] : first + 1)
    }()

    static var shares: [Range<UInt64>] {
        stride(from: all.lowerBound, to: all.upperBound, by: 50).map {
            $0..<min($0 + 50, all.upperBound)
        }
    }
}

/// Reports a state of a disk that must not occur.
struct DiskViolation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
