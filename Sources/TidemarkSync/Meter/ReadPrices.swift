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
        "nam5": multiRegion, "eur3": multiRegion,
        "us-central1": ReadPrices(per100000: 0.03, perGiBStored: 0.15),
    ]

    /// In each multi-region, as in ``table``.
    public static let multiRegion = ReadPrices(per100000: 0.06)

    /// What the five apps of our journeys reckoned with: $0.36 for 100,000 reads, no read free. It is
    /// their figure, and six times the list price of a multi-region: nobody pays it for reads alone.
    public static let journeys = ReadPrices(per100000: 0.36, freePerDay: 0)

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

    /// What a project costs whose devices all open the app as often.
    ///
    /// - Parameters:
    ///   - readsAnOpen: What one open is billed: a test's `expectReads`, or a report's reads by its
    ///     opens.
    ///   - bytesAnOpen: What one open is sent.
    ///   - storedBytes: In the database, with its indexes.
    public func estimate(
        readsAnOpen: Double, devices: Int, opensADay: Int, bytesAnOpen: Double = 0,
        storedBytes: Double = 0
    ) -> CostEstimate {
        precondition(readsAnOpen >= 0 && devices >= 0 && opensADay >= 0)
        precondition(bytesAnOpen >= 0 && storedBytes >= 0)
        let opens = Double(devices) * Double(opensADay)
        let reads = readsAnOpen * opens
        let gib = 1_073_741_824.0
        return CostEstimate(
            readsADay: reads,
            readsDollarsADay: max(0, reads - Double(freePerDay)) * per100000 / 100_000,
            sentDollarsAMonth: max(
                0, bytesAnOpen * opens * CostEstimate.daysOfMonth / gib - freeGiBSent) * perGiBSent,
            storedDollarsAMonth: max(0, storedBytes / gib - freeGiBStored) * perGiBStored)
    }
}

extension ReadReport {
    /// What a project costs whose devices open the app as this one did.
    ///
    /// ```swift
    /// print(report.estimate(devices: 10_000, opensADay: 50, of: 200, at: ReadPrices.table["nam5"]!))
    /// ```
    ///
    /// - Parameters:
    ///   - opens: How many opens the report is of; at least 1.
    ///   - bytes: What those were sent.
    public func estimate(
        devices: Int, opensADay: Int, of opens: Int = 1, bytes: Int = 0, at prices: ReadPrices
    ) -> CostEstimate {
        precondition(opens >= 1 && bytes >= 0)
        return prices.estimate(
            readsAnOpen: Double(reads) / Double(opens), devices: devices, opensADay: opensADay,
            bytesAnOpen: Double(bytes) / Double(opens))
    }
}
