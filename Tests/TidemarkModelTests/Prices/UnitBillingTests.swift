import Testing
import TidemarkModel

/// Google's published examples of the Enterprise edition's bill.
struct `Units of the Enterprise edition` {
    private static let kiB = 1_024

    @Test func `of point reads are the published ones`() {
        #expect(UnitBilling.pointRead(bytes: Self.kiB) == 1)
        #expect(UnitBilling.pointRead(bytes: 4 * Self.kiB) == 1)
        #expect(UnitBilling.pointRead(bytes: 8 * Self.kiB) == 2)
        #expect(UnitBilling.pointRead(bytes: 1_024 * Self.kiB) == 256)
        #expect(100 * UnitBilling.pointRead(bytes: Self.kiB) == 100)
    }

    @Test func `of scans are the published ones`() {
        #expect(UnitBilling.scan(bytes: 100 * Self.kiB) == 25)
        #expect(UnitBilling.scan(bytes: 100 * 128) == 4)
        #expect(UnitBilling.scan(bytes: 20 * Self.kiB) == 5)
        #expect(UnitBilling.scan(bytes: 100 * 2 * Self.kiB) == 50)
        #expect(UnitBilling.scan(bytes: 10_000 * 2 * Self.kiB) == 5_000)
        #expect(UnitBilling.count(items: 1_000) == 8)
        #expect(UnitBilling.scan(bytes: 0) == 1, "a query costs at least one")
    }

    @Test func `of queries over an index are the published ones`() {
        #expect(UnitBilling.query(documents: 128, documentBytes: 4_096, entryBytes: 256) == 136)
        #expect(UnitBilling.query(documents: 20, documentBytes: 1_024, entryBytes: 128) == 21)
        #expect(UnitBilling.query(documents: 10, documentBytes: 6_144, entryBytes: 128) == 21)
        #expect(UnitBilling.query(documents: 1, documentBytes: 2_048, entryBytes: 64) == 2)
    }

    @Test func `of a listener's changes are the published ones`() {
        #expect(2 * UnitBilling.update(bytes: 6 * Self.kiB) == 4)
        #expect(1_000 * UnitBilling.update(bytes: 2 * Self.kiB) == 1_000)
    }

    @Test func `of writes are the published ones`() {
        #expect(UnitBilling.write(bytes: 10 * Self.kiB) == 10)
        #expect(UnitBilling.write(bytes: Self.kiB) + UnitBilling.write(bytes: 256) == 2)
        #expect(
            UnitBilling.write(bytes: Self.kiB) + UnitBilling.changedEntry(from: 256, to: 256) == 3)
        #expect(UnitBilling.write(bytes: 5 * Self.kiB) + 5 * UnitBilling.write(bytes: 100) == 10)
    }

    @Test func `have the published prices of Iowa`() throws {
        let prices = try UnitPrices.of("us-central1")
        // A million queries, indexed and as a scan of 200 KiB.
        #expect(prices.cost(of: BilledUnits(read: 2_000_000)) == 0.10)
        #expect(prices.cost(of: BilledUnits(read: 50_000_000)) == 2.50)
        // A million clients read 10 posts of 6 KiB, and receive two changes.
        let screen = BilledUnits(read: 21_000_000, realtimeUpdate: 4_000_000)
        #expect(abs(prices.cost(of: screen) - 2.25) < 1e-9)
        #expect(prices.costOfDay(BilledUnits(read: 50_000, realtimeUpdate: 50_000)) == 0)
        #expect(prices.assumptions.isEmpty)
        let dollars = prices.cost(of: BilledUnits(read: 1_000_000, realtimeUpdate: 1_000_000))
        #expect(abs(dollars - 0.35) < 1e-9)
    }

    @Test func `say which prices are assumed, and of which places none are known`() throws {
        #expect(try UnitPrices.of("nam5").assumptions.count == 1)
        let error = #expect(throws: ReadPrices.UnknownLocation.self) {
            try UnitPrices.of("mars-north1")
        }
        #expect(error?.description.contains("nam5, us-central1") == true)
        #expect(error?.description.contains("UnitPrices(") == true)
    }
}
