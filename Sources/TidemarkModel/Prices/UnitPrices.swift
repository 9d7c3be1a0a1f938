/// The prices of a database of the Enterprise edition. An app with other prices makes its own
/// value.
///
/// ```swift
/// let prices = try UnitPrices.of("us-central1")
/// let dollars = prices.cost(of: BilledUnits(read: 1_000_000, realtimeUpdate: 1_000_000))
/// ```
public struct UnitPrices: Hashable, Sendable {
    /// The price of a million read units, in US dollars.
    public var perMillionReads: Double
    /// The price of a million real-time update units, in US dollars.
    public var perMillionUpdates: Double
    /// The price of a million write units, in US dollars.
    public var perMillionWrites: Double
    /// The free units per project and day, for the project's one free database.
    public var freePerDay: BilledUnits
    /// The price of a GiB sent to devices, in US dollars.
    public var perGiBSent: Double
    /// The number of free GiB sent per project and month.
    public var freeGiBSent: Double
    /// The price of a GiB stored for a month, including indexes, in US dollars.
    public var perGiBStored: Double
    /// The number of free GiB stored.
    public var freeGiBStored: Double
    /// A sentence for each price that is not published, but assumed; empty if all are published.
    public var assumptions: [String]

    /// - Parameters:
    ///   - perMillionReads: The price of a million read units, in US dollars; so are the others.
    ///   - freePerDay: The free units of the project's one free database; none for another.
    ///   - assumptions: A sentence for each price that is not published.
    public init(
        perMillionReads: Double, perMillionUpdates: Double, perMillionWrites: Double,
        freePerDay: BilledUnits = BilledUnits(
            read: 50_000, realtimeUpdate: 50_000, write: 40_000),
        perGiBSent: Double = 0.12, freeGiBSent: Double = 10, perGiBStored: Double = 0.24,
        freeGiBStored: Double = 1, assumptions: [String] = []
    ) {
        precondition(perMillionReads >= 0 && perMillionUpdates >= 0 && perMillionWrites >= 0)
        precondition(perGiBSent >= 0 && freeGiBSent >= 0 && perGiBStored >= 0)
        self.perMillionReads = perMillionReads
        self.perMillionUpdates = perMillionUpdates
        self.perMillionWrites = perMillionWrites
        self.freePerDay = freePerDay
        self.perGiBSent = perGiBSent
        self.freeGiBSent = freeGiBSent
        self.perGiBStored = perGiBStored
        self.freeGiBStored = freeGiBStored
        self.assumptions = assumptions
    }

    /// Google's list prices by location, without discounts.
    ///
    /// Source: https://firebase.google.com/docs/firestore/enterprise/pricing, read on 2026-11-29 in
    /// a stored copy of the page. It has all prices of `us-central1`, and of `nam5` the price of
    /// real-time updates, which is twice that of `us-central1`. The other prices of `nam5` are
    /// assumed to be twice as high too, as in the Standard edition; ``assumptions`` says so. Prices
    /// change: check them before you rely on a figure.
    public static let table: [String: UnitPrices] = [
        "us-central1": region,
        "nam5": UnitPrices(
            perMillionReads: 0.10, perMillionUpdates: 0.60, perMillionWrites: 0.52,
            assumptions: [
                "The prices of read units, write units and stored data in nam5 are assumed."
            ]),
    ]

    /// The list prices of Iowa, as in ``table``. A GiB-hour costs $0.00032, and a month has 730
    /// hours.
    private static let region = UnitPrices(
        perMillionReads: 0.05, perMillionUpdates: 0.30, perMillionWrites: 0.26,
        perGiBStored: 0.2336)

    /// Returns the list prices of a location.
    ///
    /// - Parameter location: Firestore's name of the location, for example `us-central1`.
    /// - Throws: ``ReadPrices/UnknownLocation`` for a name that ``table`` lacks, even if the
    ///   location exists.
    public static func of(
        _ location: String
    ) throws(ReadPrices.UnknownLocation) -> UnitPrices {
        guard let prices = table[location] else {
            throw ReadPrices.UnknownLocation(location: location, edition: .enterprise)
        }
        return prices
    }

    /// Returns the price of units in US dollars, without free units.
    public func cost(of units: BilledUnits) -> Double {
        let dollars =
            Double(units.read) * perMillionReads
            + Double(units.realtimeUpdate) * perMillionUpdates
            + Double(units.write) * perMillionWrites
        return dollars / 1_000_000
    }

    /// Returns the price of a day's units in US dollars, after the free units of the day.
    public func costOfDay(_ units: BilledUnits) -> Double {
        cost(
            of: BilledUnits(
                read: max(0, units.read - freePerDay.read),
                realtimeUpdate: max(0, units.realtimeUpdate - freePerDay.realtimeUpdate),
                write: max(0, units.write - freePerDay.write)))
    }
}
