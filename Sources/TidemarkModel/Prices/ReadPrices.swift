/// Firestore's prices. An app with other prices makes its own value.
public struct ReadPrices: Hashable, Sendable {
    /// The price of 100,000 reads, in US dollars.
    public var per100000: Double
    /// The number of free reads per project and day.
    public var freePerDay: Int
    /// The price of a GiB sent to devices, in US dollars.
    public var perGiBSent: Double
    /// The number of free GiB sent per project and month.
    public var freeGiBSent: Double
    /// The price of a GiB stored for a month, including indexes, in US dollars.
    public var perGiBStored: Double
    /// The number of free GiB stored.
    public var freeGiBStored: Double

    /// - Parameters:
    ///   - freePerDay: The free reads of the project's one free database; 0 for any other database.
    ///   - perGiBSent: The price for data sent to the internet, within a month's first TiB.
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
    /// https://firebase.google.com/docs/firestore/pricing, read on 2026-11-24: the free amounts are
    /// on the page itself, the prices by location in its table. The prices of Oregon (`us-west1`)
    /// were read on 2026-11-25 in an older edition of the second page. Prices change, and other
    /// locations have their own, such as $0.036 for 100,000 reads in Los Angeles: check them before
    /// you rely on a figure. ``of(_:)`` throws for a location that is missing here.
    public static let table: [String: ReadPrices] = [
        "nam5": multiRegion, "eur3": multiRegion,
        "us-central1": region, "us-west1": region,
    ]

    /// The list prices of Iowa and Oregon, as in ``table``.
    private static let region = ReadPrices(per100000: 0.03, perGiBStored: 0.15)

    /// The error for a location without prices in ``table``, or in ``UnitPrices/table``.
    public struct UnknownLocation: Error, Hashable, CustomStringConvertible {
        public let location: String
        /// The edition whose prices are unknown.
        public let edition: DatabaseEdition

        init(location: String, edition: DatabaseEdition = .standard) {
            self.location = location
            self.edition = edition
        }

        public var description: String {
            let isStandard = edition == .standard
            let known = isStandard ? Array(ReadPrices.table.keys) : Array(UnitPrices.table.keys)
            let type = isStandard ? "ReadPrices(per100000:)" : "UnitPrices(perMillionReads:…)"
            let page = isStandard ? "firestore/pricing" : "firestore/enterprise/pricing"
            return """
                No prices are known of \(location). They are known of \
                \(known.sorted().joined(separator: ", ")). Give the prices of another location \
                yourself: \(type), from https://cloud.google.com/\(page).
                """
        }
    }

    /// Returns the list prices of a location.
    ///
    /// - Parameter location: Firestore's name of the location, for example `nam5`.
    /// - Throws: ``UnknownLocation`` for a name that ``table`` lacks, even if the location exists.
    public static func of(_ location: String) throws(UnknownLocation) -> ReadPrices {
        guard let prices = table[location] else { throw UnknownLocation(location: location) }
        return prices
    }

    /// The list prices of each multi-region, as in ``table``.
    public static let multiRegion = ReadPrices(per100000: 0.06)

    /// The price that the five apps of our journeys assumed: $0.36 for 100,000 reads, and no free
    /// reads. The figure is theirs and six times the list price of a multi-region; no app pays it
    /// for reads alone.
    public static let journeys = ReadPrices(per100000: 0.36, freePerDay: 0)

    /// Returns the price of `reads` reads in US dollars, without free reads. This is the cost that
    /// one device adds to a project whose free reads are used up.
    public func cost(ofReads reads: Int) -> Double { Double(reads) * per100000 / 100_000 }
}
