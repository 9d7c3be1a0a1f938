import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

struct ReadLedgerTests {
    private let day = BillingDay(number: 20_000)

    private func name(_ label: String, day: BillingDay? = nil) -> ReadRow.Name {
        ReadRow.Name(day: day ?? self.day, label: label, screen: "", cause: .get)
    }

    @Test func `rows of a day are bounded, and no read is lost`() {
        var ledger = ReadLedger()
        ledger.load([], of: day)
        for index in 0..<1_000 { ledger.add(name("l\(index)"), ReadCount(reads: 1)) }
        #expect(ledger.unsaved.count == ReadLedger.rowsPerDay + 1)
        #expect(ledger.reads(on: day) == 1_000)
        #expect(ledger.unsaved[name(ReadLedger.overflow)]?.reads == 500)
    }

    @Test func `a report of a report is what came between`() {
        let row = { (label: String, reads: Int) in
            ReadRow(day: day, label: label, screen: "s", cause: .get, reads: reads)
        }
        let before = ReadReport([row("a", 3), row("b", 1)])
        let after = ReadReport([row("a", 5), row("b", 1), row("c", 2)])
        #expect(after.since(before) == ReadReport([row("a", 2), row("c", 2)]))
    }

    @Test func `prices are of 100,000, and a day's free ones are of the day`() {
        let prices = ReadPrices(per100000: 0.06, freePerDay: 50_000)
        #expect(prices.cost(ofReads: 1_000_000) == 0.6)
        let rows = [(day, 150_000), (day.advanced(by: 1), 10)].map { day, reads in
            ReadRow(day: day, label: "", screen: "", cause: .get, reads: reads)
        }
        #expect(prices.estimate(ReadReport(rows)) == 0.06)
        #expect(prices.estimate(ReadReport(rows), devices: 10_000) > 800)
    }

    /// The project's first example: 1,000 users, 50 opens a day, 1,000 messages each.
    @Test func `an estimate has a day, a month and a year`() {
        let before = ReadPrices.journeys.estimate(readsAnOpen: 1_000, devices: 1_000, opensADay: 50)
        #expect(before.readsADay == 50_000_000)
        #expect(abs(before.day - 180) < 0.001 && abs(before.month - 5_400) < 0.001)
        #expect(abs(before.year - 65_700) < 0.001)
        #expect(
            "\(before)"
                == "50,000,000 reads a day: $180.00 a day, $5,400.00 a month, $65,700.00 a year")
        let row = ReadRow(day: day, label: "", screen: "", cause: .get, reads: 2_000)
        let report = ReadReport([row])
            .estimate(devices: 1_000, opensADay: 50, of: 2, at: .journeys)
        #expect(report == before)
    }

    @Test func `what is sent and stored is priced above what is free`() {
        let prices = ReadPrices(
            per100000: 0, freePerDay: 0, perGiBSent: 0.12, freeGiBSent: 10, perGiBStored: 0.18,
            freeGiBStored: 1)
        let gib = 1_073_741_824.0
        let cost = prices.estimate(
            readsAnOpen: 0, devices: 1, opensADay: 1, bytesAnOpen: gib, storedBytes: 3 * gib)
        #expect(abs(cost.sentDollarsAMonth - 20 * 0.12) < 0.000_1)
        #expect(abs(cost.storedDollarsAMonth - 2 * 0.18) < 0.000_1)
        #expect(cost.month == cost.sentDollarsAMonth + cost.storedDollarsAMonth)
        let small = prices.estimate(readsAnOpen: 0, devices: 1, opensADay: 1, storedBytes: gib)
        #expect(small.year == 0)
    }

    /// The cost of a read is stored together with documents, or alone after ten seconds.
    @Test func `a kill takes no more than ten seconds`() throws {
        let file = TemporaryFile()
        var world: Harness? = try Harness(cacheFile: file.path)
        func read(_ name: String, at time: Int64) {
            let call = world!.transport.calls.count
            _ = world!.read(path(name), source: .server)
            world!.transport.calls[call].reply(
                .batchGetDocuments(
                    BatchGetResult(row: .found(doc(name, time)), readTime: at(time))))
            world!.run()
        }
        let noon: Int64 = 1_700_000_000_000_000
        read("rooms/a", at: noon)
        world = nil
        world = try Harness(cacheFile: file.path)
        #expect(try world!.report().reads == 1, "with the document")
        read("rooms/b", at: noon)
        read("rooms/c", at: noon)
        #expect(try world!.report().reads == 3)
        world!.scheduler.advance(by: .seconds(11))
        world = nil
        world = try Harness(cacheFile: file.path)
        #expect(try world!.report().reads == 3)
    }

    @Test func `old days go`() throws {
        let world = try Harness()
        for day in 0..<40 {
            _ = world.read(path("rooms/a"), source: .server)
            world.transport.calls.last!.reply(
                .batchGetDocuments(
                    BatchGetResult(
                        row: .found(doc("rooms/a", 10)),
                        readTime: at(1_700_000_000_000_000 + Int64(day) * 86_400_000_000))))
            world.run()
            world.scheduler.advance(by: .seconds(86_400))
        }
        #expect(try world.report(days: 100).rows.count == ReadLedger.daysKept)
        #expect(try world.report(days: 3).rows.count == 2, "the third day has only begun")
    }

    @Test func `a damaged cache keeps what was not stored yet`() throws {
        var ledger = ReadLedger()
        ledger.add(name("a"), ReadCount(reads: 2))
        var next = ReadLedger()
        next.adopt(ledger)
        #expect(next.unsaved == ledger.unsaved)
    }
}

extension Harness {
    func report(days: Int = 35) throws -> ReadReport {
        let told = Events<Result<ReadReport, SyncError>>()
        engine.readReport(days: days) { told.record($0) }
        run()
        return try told.all[0].get()
    }
}
