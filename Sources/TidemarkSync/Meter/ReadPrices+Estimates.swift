public import TidemarkModel

extension ReadPrices {
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
