public import TidemarkModel

extension ReadPrices {
    /// Returns the cost of a project's reads over all days of the report, in US dollars. The free
    /// reads of each day cost nothing, and unused free reads are not carried over.
    ///
    /// - Parameter devices: The number of devices that read as much as this one.
    public func estimate(_ report: ReadReport, devices: Int = 1) -> Double {
        precondition(devices >= 0)
        return report.byDay.values.reduce(0) { sum, reads in
            sum + cost(ofReads: max(0, reads * devices - freePerDay))
        }
    }

    /// Returns the cost of a project whose devices all open the app equally often.
    ///
    /// - Parameters:
    ///   - readsAnOpen: The billed reads of one open: a test's `expectReads`, or a report's reads
    ///     divided by its opens.
    ///   - bytesAnOpen: The number of bytes sent for one open.
    ///   - storedBytes: The number of bytes in the database, with its indexes.
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

extension UnitPrices {
    /// Returns the cost of a project on the Enterprise edition whose devices all open the app
    /// equally often. An index serves each query; a change that a listener receives costs as much
    /// as its document.
    ///
    /// - Parameters:
    ///   - readsAnOpen: The documents that one open reads, apart from a listener's changes.
    ///   - updatesAnOpen: The changes that listeners receive during one open.
    ///   - documentBytes: The size of a document in bytes.
    ///   - entryBytes: The size of an index entry in bytes.
    ///   - queriesAnOpen: The queries of one open: each scans its index entries for itself.
    ///   - storedBytes: The number of bytes in the database, with its indexes.
    public func estimate(
        readsAnOpen: Double, updatesAnOpen: Double = 0, documentBytes: Int = 1_024,
        entryBytes: Int = UnitBilling.usualEntryBytes, queriesAnOpen: Double = 1, devices: Int,
        opensADay: Int,
        storedBytes: Double = 0
    ) -> CostEstimate {
        precondition(readsAnOpen >= 0 && updatesAnOpen >= 0 && devices >= 0 && opensADay >= 0)
        precondition(documentBytes >= 0 && entryBytes >= 0 && queriesAnOpen >= 0)
        precondition(storedBytes >= 0)
        let opens = Double(devices) * Double(opensADay)
        let entries = readsAnOpen * Double(entryBytes) / Double(UnitBilling.readBytes)
        let units =
            readsAnOpen * Double(UnitBilling.pointRead(bytes: documentBytes))
            + max(queriesAnOpen, entries.rounded(.up))
        let updates = updatesAnOpen * Double(UnitBilling.update(bytes: documentBytes))
        let dollars =
            max(0, units * opens - Double(freePerDay.read)) * perMillionReads
            + max(0, updates * opens - Double(freePerDay.realtimeUpdate)) * perMillionUpdates
        let gib = 1_073_741_824.0
        let sent = (readsAnOpen + updatesAnOpen) * Double(documentBytes) * opens
        var estimate = CostEstimate(
            readsADay: (units * opens).rounded(), readsDollarsADay: dollars / 1_000_000,
            sentDollarsAMonth: max(0, sent * CostEstimate.daysOfMonth / gib - freeGiBSent)
                * perGiBSent,
            storedDollarsAMonth: max(0, storedBytes / gib - freeGiBStored) * perGiBStored)
        estimate.edition = .enterprise
        return estimate
    }
}

extension ReadReport {
    /// Returns the cost of a project whose devices open the app as this one did.
    ///
    /// ```swift
    /// let prices = ReadPrices.table["nam5"]!
    /// print(report.estimate(devices: 10_000, opensADay: 50, of: 200, at: prices))
    /// ```
    ///
    /// - Parameters:
    ///   - opens: The number of opens in the report; at least 1.
    ///   - bytes: The number of bytes sent for these opens.
    public func estimate(
        devices: Int, opensADay: Int, of opens: Int = 1, bytes: Int = 0, at prices: ReadPrices
    ) -> CostEstimate {
        precondition(opens >= 1 && bytes >= 0)
        return prices.estimate(
            readsAnOpen: Double(reads) / Double(opens), devices: devices, opensADay: opensADay,
            bytesAnOpen: Double(bytes) / Double(opens))
    }
}
