import Foundation
package import TidemarkModel

/// How large the app is for which costs are estimated.
package struct Scale: Hashable, Sendable {
    /// In a collection, or in what a query without a limit matches.
    package var documents: Int
    /// Of one user and day.
    package var opens: Int
    package var users: Int
    package var prices: ReadPrices
    /// Of collections whose size is known: by the last part of their path.
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

    /// Documents of a query's result, as far as the code tells.
    func documents(of query: QueryFacts?) -> Int {
        let all = query?.collectionID.flatMap { sizes[$0] } ?? documents
        if case .count(let limit)? = query?.limit { return min(limit, all) }
        return all
    }
}

/// What a place in the code reads when the app is of a given size.
package struct Estimate: Codable, Sendable, Hashable {
    /// Of one open.
    package var reads: Int
    /// Of one open when it is mended; nil where that depends on more than the code.
    package var mended: Int?
    package var opens: Int
    package var users: Int
    /// In US dollars, with the free reads taken off each day.
    package var dollarsAMonth: Double
    /// Where the reads of one open come from.
    package var reckoning: String

    init(_ reads: Int, mended: Int? = nil, _ reckoning: String, _ scale: Scale) {
        self.reads = reads
        self.mended = mended
        opens = scale.opens
        users = scale.users
        self.reckoning = reckoning
        let aDay = Double(reads) * Double(scale.opens) * Double(scale.users)
        let billed = max(0, aDay - Double(scale.prices.freePerDay))
        dollarsAMonth = billed * 30 * scale.prices.per100000 / 100_000
    }

    package var readsAMonth: Double { Double(reads) * Double(opens) * Double(users) * 30 }

    /// `1,000 reads × 50 opens × 1,000 users a day: 1,500,000,000 reads and $900.00 a month`.
    package var sentence: String {
        "\(reads.grouped) reads × \(opens.grouped) opens × \(users.grouped) users a day: "
            + "\(Int(min(readsAMonth, 9e18)).grouped) reads and $\(dollarsAMonth.money) a month"
    }
}

extension Int {
    /// `1,000,000`, the same everywhere.
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
    /// With two decimals.
    package var money: String {
        let cents = Int((self * 100).rounded())
        let rest = cents % 100
        return (cents / 100).grouped + "." + (rest < 10 ? "0\(rest)" : "\(rest)")
    }
}
