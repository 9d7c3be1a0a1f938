/// What reads cost, as a value: an app that pays another price makes its own.
public struct ReadPrices: Hashable, Sendable {
    /// Of 100,000 reads, in US dollars.
    public var per100000: Double
    /// Free reads of a project and day.
    public var freePerDay: Int

    public init(per100000: Double, freePerDay: Int = 50_000) {
        precondition(per100000 >= 0 && freePerDay >= 0)
        self.per100000 = per100000
        self.freePerDay = freePerDay
    }

    /// Firestore's list prices (Standard edition, without discounts), to be checked against the price
    /// list before they are relied upon: they change, and other regions cost something in between.
    public static let table: [String: ReadPrices] = [
        "nam5": ReadPrices(per100000: 0.06), "eur3": ReadPrices(per100000: 0.06),
        "us-central1": ReadPrices(per100000: 0.03),
    ]

    /// What so many reads cost, in US dollars, with none free: what one device adds to a project that
    /// has used up its free ones.
    public func cost(ofReads reads: Int) -> Double { Double(reads) * per100000 / 100_000 }

    /// What a project's reads of each day cost, in US dollars: the day's free ones cost nothing, and
    /// what a day leaves of them is not carried over.
    ///
    /// - Parameter devices: How many devices read as much as this one.
    public func estimate(_ report: ReadReport, devices: Int = 1) -> Double {
        precondition(devices >= 0)
        return report.byDay.values.reduce(0) { sum, reads in
            sum + cost(ofReads: max(0, reads * devices - freePerDay))
        }
    }
}
