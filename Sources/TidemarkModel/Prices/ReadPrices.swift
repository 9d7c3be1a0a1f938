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
    /// on the page itself, the prices by location in its table. Prices change, and locations that are
    /// not here have their own: check them before you rely on a figure.
    public static let table: [String: ReadPrices] = [
        "nam5": ReadPrices(per100000: 0.06), "eur3": ReadPrices(per100000: 0.06),
        "us-central1": ReadPrices(per100000: 0.03, perGiBStored: 0.15),
    ]

    /// What the five apps of our journeys reckoned with: $0.36 for 100,000 reads, no read free. It is
    /// their figure, and six times the list price of a multi-region: nobody pays it for reads alone.
    public static let journeys = ReadPrices(per100000: 0.36, freePerDay: 0)

    /// What so many reads cost, in US dollars, with none free: what one device adds to a project that
    /// has used up its free ones.
    public func cost(ofReads reads: Int) -> Double { Double(reads) * per100000 / 100_000 }
}
