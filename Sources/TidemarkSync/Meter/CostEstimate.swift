import Foundation

/// What a project costs, in US dollars. Prints its day, month and year in one line.
public struct CostEstimate: Hashable, Sendable {
    /// A month has 30 days here, and a year 365.
    static let daysOfMonth = 30.0
    static let daysOfYear = 365.0

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
    /// Twelve months of what is sent and stored, 365 days of reads.
    public var year: Double {
        readsDollarsADay * Self.daysOfYear + (sentDollarsAMonth + storedDollarsAMonth) * 12
    }
}

extension CostEstimate: CustomStringConvertible {
    /// As in `50,000,000 reads a day: $180.00 a day, $5,400.00 a month, $65,700.00 a year`.
    public var description: String {
        "\(Self.grouped(readsADay, 0)) reads a day: $\(Self.grouped(day, 2)) a day, "
            + "$\(Self.grouped(month, 2)) a month, $\(Self.grouped(year, 2)) a year"
    }

    /// The same everywhere, whatever the device's language.
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
