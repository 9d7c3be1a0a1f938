package import TidemarkModel

/// The price of a migration, without free amounts.
package struct MigrationPrice: Equatable, Sendable {
    package let reads: Int
    package let writes: Int
    /// US dollars.
    package let dollars: Double

    /// Google's list price of a write is three times that of a read, in each location of
    /// ``ReadPrices/table``. Source: https://cloud.google.com/firestore/pricing, Standard edition.
    static let readsPerWrite = 3.0

    package init(reads: Int, writes: Int, prices: ReadPrices) {
        self.reads = reads
        self.writes = writes
        let single = prices.per100000 / 100_000
        dollars = single * (Double(reads) + Self.readsPerWrite * Double(writes))
    }
}
