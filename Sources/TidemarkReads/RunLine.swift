package import TidemarkModel

/// The reads of one line in one run of a suite.
package struct RunLine: Hashable, Sendable {
    package let key: ReadKey
    package var reads: Int
    /// The units of the same calls; zero in a database of the Standard edition.
    package var units: BilledUnits
    /// The number of calls; of a listener, the number of its starts.
    package var calls: Int
    /// The number of a listener's starts that resumed with a token.
    package var resumed: Int
    /// The highest limit of the queries; nil if a query had none, or if the call has no query.
    package var limit: Int?
    /// The call with the most reads, in words.
    package var example: String
    /// The indexes that serve that call, and the indexes that it would need.
    package var indexes: [String]

    package init(
        _ key: ReadKey, reads: Int, units: BilledUnits = BilledUnits(), calls: Int = 1,
        resumed: Int = 0, limit: Int? = nil, example: String = "", indexes: [String] = []
    ) {
        precondition(reads >= 0 && calls >= 0 && resumed >= 0)
        self.key = key
        self.reads = reads
        self.units = units
        self.calls = calls
        self.resumed = resumed
        self.limit = limit
        self.example = example
        self.indexes = indexes
    }

    /// The number of a listener's starts that were billed in full.
    var fresh: Int { max(0, calls - resumed) }
}

/// The reads of one line that a file allows.
package struct KeptLine: Hashable, Sendable {
    package let key: ReadKey
    /// The fewest reads of a run.
    package var least: Int
    /// The most reads of a run. More reads are growth.
    package var most: Int
    /// The reason for which `least` and `most` differ; nil if they are equal.
    package var reason: String?
    /// The fewest and the most read units of a run; nil in a file of the Standard edition.
    package var readUnits: ClosedRange<Int>?
    /// The fewest and the most real-time update units; nil in a file of the Standard edition.
    package var updateUnits: ClosedRange<Int>?
    package var calls: Int
    package var resumed: Int
    package var limit: Int?

    package init(
        _ key: ReadKey, least: Int, most: Int, reason: String? = nil,
        readUnits: ClosedRange<Int>? = nil, updateUnits: ClosedRange<Int>? = nil, calls: Int = 1,
        resumed: Int = 0, limit: Int? = nil
    ) {
        precondition(0 <= least && least <= most && calls >= 0 && resumed >= 0)
        self.key = key
        self.least = least
        self.most = most
        self.reason = reason
        self.readUnits = readUnits
        self.updateUnits = updateUnits
        self.calls = calls
        self.resumed = resumed
        self.limit = limit
    }

    /// The number of a listener's starts that were billed in full.
    var fresh: Int { max(0, calls - resumed) }

    /// The reads as text, such as `20` or `18 to 22`.
    var amount: String { (least...most).amount }
    /// True if the runs of a recording differed in a number.
    var varies: Bool {
        ReadMeasure.allCases.contains {
            let range = $0.range(of: self)
            return range.lowerBound < range.upperBound
        }
    }
}
