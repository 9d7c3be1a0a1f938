/// What Firestore costs, as a value: an app that pays another price makes its own.
public struct ReadPrices: Hashable, Sendable {
    /// Of 100,000 reads, in US dollars.
    public var per100000: Double
    /// Free reads of a project and day.
    public var freePerDay: Int
    /// Of a GiB that is sent to devices, in US dollars.
    public var perGiBSent: Double
    /// Free GiB of a project and month that are sent.
    public var freeGiBSent: Double
    /// Of a GiB that is stored for a month, indexes too, in US dollars.
    public var perGiBStored: Double
    /// Free GiB that are stored.
    public var freeGiBStored: Double

    /// - Parameters:
    ///   - freePerDay: Of the project's one free database; 0 for any other.
    ///   - perGiBSent: To the internet, within a month's first TiB.
    public init(
        per100000: Double, freePerDay: Int = 50_000, perGiBSent: Double = 0.12,
        freeGiBSent: Double = 10, perGiBStored: Double = 0.18, freeGiBStored: Double = 1
    ) {
        precondition(per100000 >= 0 && freePerDay >= 0 && perGiBSent >= 0 && freeGiBSent >= 0)
        precondition(perGiBStored >= 0 && freeGiBStored >= 0)
        self.per100000 = per100000
        self.freePerDay = freePerDay
        self.perGiBSent = perGiBSent
        self.freeGiBSent = freeGiBSent
        self.perGiBStored = perGiBStored
        self.freeGiBStored = freeGiBStored
    }

    /// Firestore's list prices by location: Standard edition, without discounts.
    ///
    /// Source: https://cloud.google.com/firestore/pricing and
    /// https://firebase.google.com/docs/firestore/pricing, looked up on 2026-11-24: the free amounts are
    /// on the page itself, the prices by location in its table; those of Oregon (`us-west1`) on
    /// 2026-11-25 in an older edition of the second page. Prices change, and locations that are not here
    /// have their own, such as $0.036 for 100,000 reads in Los Angeles: check them before you rely on a
    /// figure. ``of(_:)`` throws for a location that is not here.
    public static let table: [String: ReadPrices] = [
        "nam5": multiRegion, "eur3": multiRegion,
        "us-central1": region, "us-west1": region,
    ]

    /// In Iowa and Oregon, as in ``table``.
    private static let region = ReadPrices(per100000: 0.03, perGiBStored: 0.15)

    /// Asked for where ``table`` has no prices.
    public struct UnknownLocation: Error, Hashable, CustomStringConvertible {
        public let location: String

        public var description: String {
            let known = ReadPrices.table.keys.sorted().joined(separator: ", ")
            return """
                No prices are known of \(location). They are known of \(known). Give the prices of \
                another location yourself: ReadPrices(per100000:), from \
                https://cloud.google.com/firestore/pricing.
                """
        }
    }

    /// The list prices of a location.
    ///
    /// - Parameter location: As Firestore names it: `nam5`, for example.
    /// - Throws: ``UnknownLocation`` for a name that ``table`` does not have, also of a real location.
    public static func of(_ location: String) throws(UnknownLocation) -> ReadPrices {
        guard let prices = table[location] else { throw UnknownLocation(location: location) }
        return prices
    }

    /// In each multi-region, as in ``table``.
    public static let multiRegion = ReadPrices(per100000: 0.06)

    /// What the five apps of our journeys reckoned with: $0.36 for 100,000 reads, no read free. It is
    /// their figure, and six times the list price of a multi-region: nobody pays it for reads alone.
    public static let journeys = ReadPrices(per100000: 0.36, freePerDay: 0)

    /// What so many reads cost, in US dollars, with none free: what one device adds to a project that
    /// has used up its free ones.
    public func cost(ofReads reads: Int) -> Double { Double(reads) * per100000 / 100_000 }
}
