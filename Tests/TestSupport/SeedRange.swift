import Foundation

/// The seeds that a test plays: a number or a range from an environment variable, such as `17` or
/// `0..<200`, or the default range.
package struct SeedRange {
    package let all: Range<UInt64>

    package init(_ variable: String, _ usual: Range<UInt64>) {
        guard let text = ProcessInfo.processInfo.environment[variable] else {
            all = usual
            return
        }
        let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
        guard let first = bounds.first, bounds.count < 3 else {
            preconditionFailure("\(variable) is a seed, or a range as 0..<200")
        }
        all = first..<(bounds.count == 2 ? bounds[1] : first + 1)
    }

    /// True if the test plays only one seed, for inspection.
    package var isOne: Bool { all.count == 1 }

    /// The seeds in ranges of 50.
    package var shares: [Range<UInt64>] {
        stride(from: all.lowerBound, to: all.upperBound, by: 50).map {
            $0..<min($0 + 50, all.upperBound)
        }
    }
}
