import Testing
import Tidemark
import TidemarkApp
import TidemarkModel

@testable import TidemarkDemo

/// A row fails if the bill of its use differs from the prediction.
struct `A predicted bill` {
    private func result(
        predicted: PlannedBill, billed: PlannedBill, edition: DatabaseEdition, lost: Int = 0
    ) -> ScenarioResult {
        var forecast = Forecast()
        forecast.add("changes: 5", predicted)
        var after = Measured()
        (after.reads, after.units) = (billed.reads, billed.units)
        (after.forecast, after.lostAnswers) = (forecast, lost)
        return ScenarioResult(
            name: "a row", network: .healthy, bar: Bar(showsContentOffline: false),
            edition: edition, before: Measured(), after: after)
    }

    private func bill(_ reads: Int, _ units: Int, _ updates: Int = 0) -> PlannedBill {
        PlannedBill(reads: reads, units: BilledUnits(read: units, realtimeUpdate: updates))
    }

    @Test func `is compared in reads, or in units`() {
        let same = result(predicted: bill(6, 7), billed: bill(6, 0), edition: .standard)
        #expect(same.holds && same.forecastText == "predicted 6 reads")
        let more = result(predicted: bill(6, 7), billed: bill(7, 0), edition: .standard)
        #expect(
            more.complaints == ["predicted 6 reads, but billed 7 reads: changes: 5 (6 reads)"])
        let units = result(predicted: bill(6, 7), billed: bill(9, 7), edition: .enterprise)
        #expect(units.holds, "the Enterprise edition is billed by units")
        let updates = result(predicted: bill(6, 7), billed: bill(6, 7, 1), edition: .enterprise)
        #expect(updates.complaints.first?.contains("7 read units, 1 update units") == true)
    }

    @Test func `has bounds where a billed answer was lost`() {
        func lost(_ reads: Int, of answers: Int) -> ScenarioResult {
            result(
                predicted: bill(6, 7), billed: bill(reads, 0), edition: .standard, lost: answers)
        }
        #expect(lost(9, of: 1).holds && lost(12, of: 1).holds && lost(18, of: 2).holds)
        #expect(!lost(5, of: 1).holds, "each request is billed once at least")
        #expect(!lost(13, of: 1).holds, "one lost answer is billed twice")
        #expect(
            lost(9, of: 1).forecastText
                == "predicted 6 reads to 12 reads, because 1 billed answer was lost")
        let units = result(
            predicted: bill(6, 7, 1), billed: bill(0, 14, 3), edition: .enterprise, lost: 1)
        #expect(!units.holds, "three updates for one predicted")
    }

    @Test func `has bounds where a request may not be sent`() {
        var forecast = Forecast()
        forecast.add("a page: 5", bill(5, 6))
        forecast.addAtMost("changes again: 0", bill(1, 1), because: "they may be shared")
        #expect(forecast.complaint(bill(5, 0), in: .standard) == nil)
        #expect(forecast.complaint(bill(6, 0), in: .standard) == nil)
        #expect(forecast.complaint(bill(4, 0), in: .standard) != nil)
        #expect(
            forecast.complaint(bill(7, 0), in: .standard)?
                .hasPrefix("predicted 5 reads to 6 reads, because they may be shared") == true)
    }

    @Test func `takes the sizes of documents from what a row writes`() throws {
        let path = DocumentPath(unchecked: "chats/blue/messages/m1")
        let other = DocumentPath(unchecked: "chats/blue/messages/m2")
        let time = Timestamp(seconds: 5, nanoseconds: 0)
        let later = Timestamp(seconds: 6, nanoseconds: 0)
        let written = WrittenDocuments([
            Mutation(path: path, .set(["text": .string("abc"), "sentAt": .timestamp(time)])),
            Mutation(
                path: path, .patch(["text": .string("abcdef")], mask: [FieldPath(name: "text")])),
            Mutation(path: other, .set(["sentAt": .timestamp(later)])),
        ])
        let fields: MapValue = ["text": .string("abcdef"), "sentAt": .timestamp(time)]
        let rows = written.rows([path, path])
        #expect(rows.map(\.documentBytes) == [Document.storageSize(of: fields, at: path)])
        // The name has 22 bytes and 17, the parent's 10 and 17, the entry 32, the time 8.
        #expect(rows.map(\.entryBytes) == [22 + 17 + 10 + 17 + 32 + 8])
        let newest = written.newest(in: path.parent, by: "sentAt")
        #expect(newest == written.rows([other, path]))
        #expect(written.newest(in: path.parent, by: "sentAt", above: time).count == 1)
    }
}
