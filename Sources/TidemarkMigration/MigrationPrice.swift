package import TidemarkModel

/// The prices by which a migration is billed.
package enum MigrationTariff: Hashable, Sendable {
    case standard(ReadPrices)
    /// - Parameter documentBytes: The size of a document, which decides its units.
    case enterprise(UnitPrices, documentBytes: Int)
}

/// The price of a migration, without free amounts.
package struct MigrationPrice: Equatable, Sendable {
    package let reads: Int
    package let writes: Int
    /// The units in a database of the Enterprise edition; nil for the Standard edition.
    package let units: BilledUnits?
    /// US dollars.
    package let dollars: Double

    /// Google's list price of a write is three times that of a read, in each location of
    /// ``ReadPrices/table``. Source: https://cloud.google.com/firestore/pricing, Standard edition.
    static let readsPerWrite = 3.0

    /// - Parameters:
    ///   - collections: The number of documents of each collection. Each is read to its end.
    ///   - writes: The number of documents that are written.
    package init(collections: [Int], writes: Int, tariff: MigrationTariff) {
        reads = collections.reduce(0, +)
        self.writes = writes
        switch tariff {
        case .standard(let prices):
            units = nil
            let single = prices.per100000 / 100_000
            dollars = single * (Double(reads) + Self.readsPerWrite * Double(writes))
        case .enterprise(let prices, let documentBytes):
            let units = BilledUnits(
                read: collections.reduce(0) {
                    $0 + Self.scanned($1, documentBytes: documentBytes)
                },
                write: writes * Self.written(documentBytes: documentBytes))
            self.units = units
            dollars = prices.cost(of: units)
        }
    }

    /// Returns the read units of a collection that is read page by page, in the order of names.
    private static func scanned(_ documents: Int, documentBytes: Int) -> Int {
        let (pages, rest) = documents.quotientAndRemainder(dividingBy: FillMachine.pageSize)
        let page = UnitBilling.scan(bytes: FillMachine.pageSize * documentBytes)
        return pages * page + UnitBilling.scan(bytes: rest * documentBytes)
    }

    /// Returns the write units of a document that gets a change time: the document, and the entry
    /// in the index of the change time, which each feed needs.
    private static func written(documentBytes: Int) -> Int {
        UnitBilling.write(bytes: documentBytes) + 1
    }
}
