import Foundation
package import TidemarkModel

/// The size of the app in the estimates of costs.
package struct Scale: Hashable, Sendable {
    /// The number of documents in a collection, or in the result of a query without a limit.
    package var documents: Int
    /// The number of opens per user and day.
    package var opens: Int
    package var users: Int
    package var prices: ReadPrices
    /// The prices of the Enterprise edition; nil for the Standard edition.
    package var unitPrices: UnitPrices?
    /// The size of a document in bytes, for the Enterprise edition.
    package var documentBytes = 1_024
    /// The known sizes of collections, by the last part of their path.
    package var sizes: [String: Int]

    package init(
        documents: Int = 1_000, opens: Int = 50, users: Int = 1_000,
        prices: ReadPrices = ReadPrices.table["nam5"]!, sizes: [String: Int] = [:]
    ) {
        self.documents = documents
        self.opens = opens
        self.users = users
        self.prices = prices
        self.sizes = sizes
    }

    /// Returns the price of read units per open in US dollars, without the free units of each day.
    fileprivate func dollarsAMonth(_ units: Int, _ prices: UnitPrices) -> Double {
        let aDay = Double(units) * Double(opens) * Double(users)
        return max(0, aDay - Double(prices.freePerDay.read)) * 30 * prices.perMillionReads
            / 1_000_000
    }

    /// Returns the number of documents in a query's result, as far as the code shows it.
    func documents(of query: QueryFacts?) -> Int {
        let all = query?.collectionID.flatMap { sizes[$0] } ?? documents
        if case .count(let limit)? = query?.limit { return min(limit, all) }
        return all
    }
}

/// The reads of a place in the code, for an app of a given size.
package struct Estimate: Codable, Sendable, Hashable {
    /// The number of reads per open.
    package var reads: Int
    /// The number of reads per open after the change; nil if it depends on more than the code.
    package var mended: Int?
    package var opens: Int
    package var users: Int
    /// The read units per open, if an index serves the query; nil for the Standard edition.
    package var units: Int?
    /// The cost in US dollars, without the free reads of each day.
    package var dollarsAMonth: Double
    /// The calculation of the reads per open.
    package var reckoning: String

    init(reads: Int, mended: Int? = nil, reckoning: String, scale: Scale) {
        self.init(scale, reads: reads, mended: mended, reckoning: reckoning)
        let times = Double(scale.opens) * Double(scale.users)
        guard let prices = scale.unitPrices else {
            let billed = max(0, Double(reads) * times - Double(scale.prices.freePerDay))
            dollarsAMonth = billed * 30 * scale.prices.per100000 / 100_000
            return
        }
        let units = UnitBilling.query(
            documents: reads, documentBytes: scale.documentBytes,
            entryBytes: UnitBilling.usualEntryBytes)
        self.units = units
        dollarsAMonth = scale.dollarsAMonth(units, prices)
    }

    /// The estimate of a scan by a pipeline, which only the Enterprise edition runs.
    ///
    /// - Parameter documents: The number of scanned documents per open.
    init(scanOf documents: Int, scale: Scale) {
        let units = UnitBilling.scan(bytes: documents * scale.documentBytes)
        self.init(
            scale, reads: documents,
            reckoning:
                "\(documents.grouped) documents of \(scale.documentBytes.grouped) bytes are "
                + "\(units.grouped) read units")
        self.units = units
        dollarsAMonth = scale.dollarsAMonth(
            units, scale.unitPrices ?? UnitPrices.table["us-central1"]!)
    }

    private init(_ scale: Scale, reads: Int, mended: Int? = nil, reckoning: String) {
        self.reads = reads
        self.mended = mended
        opens = scale.opens
        users = scale.users
        dollarsAMonth = 0
        self.reckoning = reckoning
    }

    private var unitText: String { units.map { " (\($0.grouped) read units)" } ?? "" }

    package var readsAMonth: Double { Double(reads) * Double(opens) * Double(users) * 30 }

    /// The estimate, such as
    /// `1,000 reads × 50 opens × 1,000 users a day: 1,500,000,000 reads and $900.00 a month`.
    package var sentence: String {
        "\(reads.grouped) reads\(unitText) × \(opens.grouped) opens × \(users.grouped) users a day: "
            + "\(Int(min(readsAMonth, 9e18)).grouped) reads and $\(dollarsAMonth.money) a month"
    }
}

extension Int {
    /// The number as `1,000,000`, the same in every locale.
    package var grouped: String {
        var text = ""
        for (index, digit) in String(magnitude).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + String(text.reversed())
    }
}

extension Double {
    /// The amount with two decimals.
    package var money: String {
        let cents = Int((self * 100).rounded())
        let rest = cents % 100
        return (cents / 100).grouped + "." + (rest < 10 ? "0\(rest)" : "\(rest)")
    }
}
