import Foundation
import Testing
import TidemarkModel

@testable import TidemarkDemo

struct `The bar of the three clients` {
    private let whole = OpensBar(events: 8_648, writes: 8_863, opens: 120)

    @Test func `is ten thousand reads and ninety seconds for the whole history`() {
        #expect(whole.reads == 10_000 && whole.seconds == 90)
        #expect(whole.complaints(reads: 10_000) == [])
        #expect(whole.complaints(reads: 10_001).count == 1)
        #expect(whole.slow(seconds: 90).isEmpty)
        #expect(whole.slow(seconds: 90.1).count == 1)
    }

    @Test func `says what was measured and what is the most`() {
        let complaints = whole.complaints(reads: 10_001)
        #expect(complaints[0].contains("10001") && complaints[0].contains("10000"))
        #expect(
            whole.slow(seconds: 95.5).map(\.text)
                == ["the three clients 95.5 s, slower than 90 s here"])
    }

    @Test func `takes no count for none`() {
        #expect(whole.complaints(reads: 0).count == 1)
    }

    @Test func `goes with the size of the history`() {
        let small = OpensBar(events: 500, writes: 512, opens: 24)
        #expect(small.reads == 578 && small.seconds == 5)
        let table = OpensBar(events: 2_000, writes: 2_050, opens: 120)
        #expect(table.reads == 2_312 && (20...21).contains(table.seconds))
        let often = OpensBar(events: 500, writes: 512, opens: 1_000)
        #expect(often.reads == 1_512)
        let long = OpensBar(events: 86_480, writes: 88_630, opens: 120)
        #expect(long.reads == 100_000 && long.seconds == 900)
    }

    @Test func `is a reason for the demo to fail`() {
        func report(reads: Int) -> DemoReport {
            var tally = Tally(name: "tidemark")
            tally.reads = reads
            return report(tally)
        }
        func report(_ tally: Tally) -> DemoReport {
            DemoReport(clients: [tally], bar: whole, seconds: 1, history: history)
        }
        #expect(DemoFigures(clients: report(reads: 9_000)).complaints == [])
        #expect(DemoFigures(clients: report(reads: 11_000)).complaints.count == 1)
        var missing = Tally(name: "tidemark")
        missing.reads = 9_000
        missing.record(
            ClientOpen(shown: [], bytes: 0), against: Truth(living: ["a": .min, "b": .min]))
        #expect(
            DemoFigures(clients: report(missing)).complaints
                == ["The client tidemark had 2 items missed, as a."])
    }

    @Test func `fails for an open that costs a read more than predicted`() {
        var predictions = OpenPredictions()
        predictions.add(71, billed: 71, atLeast: 70)
        #expect(predictions.text == "predicted before each open: 71 reads in all")
        predictions.add(5, billed: 6, atLeast: 1)
        predictions.add(nil, billed: 903, atLeast: 900)
        predictions.add(nil, billed: 899, atLeast: 900)
        #expect(
            predictions.complaints == [
                "Open 2 was predicted to cost 5 reads, and 6 were billed.",
                "Open 4 was predicted to cost 900 to 1803 reads, and 899 were billed.",
            ])
        #expect(
            predictions.text.hasSuffix(
                "1,876 to 3,682 reads in all, because 2 opens have answers of several pages"))
        var tally = Tally(name: "tidemark")
        tally.reads = 71
        let report = DemoReport(
            clients: [tally], bar: whole, seconds: 1, history: history, predictions: predictions)
        #expect(DemoFigures(clients: report).complaints == predictions.complaints)
    }

    /// Checks the table's caption, and the file of the figures.
    @Test func `is of a history that says where it comes from`() throws {
        func text(_ source: HistorySource) -> String { source.text(8_648) }
        #expect(text(.generated) == "8,648 generated events")
        #expect(text(.file("../data/history.jsonl")) == "8,648 events of history.jsonl")
        #expect(text(.repository("../app")) == "8,648 commits of ../app")
        let report = DemoReport(clients: [], bar: whole, seconds: 1, history: history)
        #expect(report.caption.hasPrefix("2 generated events: three clients"))
        let json = try DemoFigures(clients: report).json()
        let object = try JSONSerialization.jsonObject(with: json) as? [String: Any]
        let kept = object?["history"] as? [String: Any]
        #expect(kept?["events"] as? Int == 2)
        #expect(kept?["source"] as? String == "2 generated events")
    }

    /// The bar was set for the whole history. `make demo` begins with a part of it.
    @Test func `is of 8,648 events where everything is played`() throws {
        #expect(HistoryOptions.whole == 8_648)
        let all = try History.generated(count: 3_000, seed: 1, limit: nil)
        #expect(DemoExtent.full.ofFirstTable(all).events.count == 3_000)
        #expect(DemoExtent.telling.ofFirstTable(all).text == "2,000 generated events")
    }

    private var history: HistoryFigure {
        HistoryFigure(
            History(
                ["a", "b"].map {
                    HistoryEvent(id: $0, author: "u", authoredAt: 1, committedAt: 2, text: "")
                }, source: .generated, limit: nil))
    }
}
