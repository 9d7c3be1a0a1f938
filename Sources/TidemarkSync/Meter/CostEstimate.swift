import Foundation
public import TidemarkModel

/// The cost of a project, in US dollars. Its description shows the cost of a day, a month and a
/// year in one line.
public struct CostEstimate: Hashable, Sendable {
    /// A month has 30 days here, and a year has 365.
    static let daysOfMonth = 30.0
    static let daysOfYear = 365.0

    /// The number of reads, or of read units in the Enterprise edition.
    public let readsADay: Double
    public let readsDollarsADay: Double
    public let sentDollarsAMonth: Double
    public let storedDollarsAMonth: Double

    public var day: Double {
        readsDollarsADay + (sentDollarsAMonth + storedDollarsAMonth) / Self.daysOfMonth
    }
    public var month: Double {
        readsDollarsADay * Self.daysOfMonth + sentDollarsAMonth + storedDollarsAMonth
    }
    /// The edition, which has reads or read units.
    public var edition = DatabaseEdition.standard
    /// Twelve months of sent and stored bytes, plus 365 days of reads.
    public var year: Double {
        readsDollarsADay * Self.daysOfYear + (sentDollarsAMonth + storedDollarsAMonth) * 12
    }
}

extension CostEstimate: CustomStringConvertible {
    private var unit: String { edition.isBilledByUnits ? "read units" : "reads" }

    /// The text, for example
    /// `50,000,000 reads a day: $180.00 a day, $5,400.00 a month, $65,700.00 a year`.
    public var description: String {
        "\(Self.grouped(readsADay, 0)) \(unit) a day: $\(Self.grouped(day, 2)) a day, "
            + "$\(Self.grouped(month, 2)) a month, $\(Self.grouped(year, 2)) a year"
    }

    /// Returns a number in a form that does not depend on the device's language.
    static func grouped(_ value: Double, _ decimals: Int) -> String {
        let text = String(format: "%.\(decimals)f", value)
        let parts = text.split(separator: ".", maxSplits: 1)
        var digits = ""
        for (index, digit) in parts[0].reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { digits.append(",") }
            digits.append(digit)
        }
        let whole = String(digits.reversed())
        return parts.count == 2 ? "\(whole).\(parts[1])" : whole
    }
}
