import Foundation
import Testing
import TidemarkModel

@testable import TidemarkDemo

struct `A scenario's bar` {
    private func measured(reads: Int, lostAnswers: Int = 0) -> Measured {
        var measured = Measured()
        measured.reads = reads
        measured.lostAnswers = lostAnswers
        measured.hadContentOffline = true
        return measured
    }

    private func complaints(
        _ bar: Bar, before: Int = 1_000, _ after: Measured, on network: DemoNetwork = .healthy
    ) -> [String] {
        bar.complaints(before: measured(reads: before), after: after, on: network)
    }

    @Test func `holds at the most reads, and not one above`() {
        #expect(complaints(Bar(reads: 51), measured(reads: 51)) == [])
        #expect(
            complaints(Bar(reads: 51), measured(reads: 52)) == ["52 reads, but the limit is 51"])
    }

    @Test func `takes the journey's shares just as they are`() {
        #expect(complaints(Bar(fewer: 0.95), measured(reads: 50)) == [])
        #expect(complaints(Bar(fewer: 0.95), measured(reads: 51)).count == 1)
        #expect(complaints(Bar(fewer: 0.995), before: 10_000, measured(reads: 50)) == [])
        #expect(complaints(Bar(fewer: 0.996), before: 5_000, measured(reads: 20)) == [])
        #expect(complaints(Bar(fewer: 0.996), before: 5_000, measured(reads: 21)).count == 1)
    }

    @Test func `allows the reads of an answer that was lost again, and no more`() {
        let bar = Bar(reads: 50, fewer: 0.95)
        #expect(complaints(bar, measured(reads: 100, lostAnswers: 1), on: .failing) == [])
        #expect(complaints(bar, measured(reads: 101, lostAnswers: 1), on: .failing).count == 2)
    }

    @Test func `refuses whatever is missed, doubled, old or deleted`() {
        let truth = Truth(living: ["a": .min, "b": Timestamp(seconds: 5, nanoseconds: 0)])
        let shown = ["a", "a", "c"].map { ShownItem(id: $0, version: .min) }
        var after = measured(reads: 1)
        after.difference = Difference(shown, against: truth)
        #expect(after.difference.missed == ["b"])
        #expect(after.difference.doubled == ["a"])
        #expect(after.difference.deletedShown == ["c"])
        #expect(complaints(Bar(), after).count == 3)
        let old = ["a", "b"].map { ShownItem(id: $0, version: .min) }
        after.difference = Difference(old, against: truth)
        #expect(after.difference.outdated == ["b"])
        #expect(complaints(Bar(), after) == ["1 shown in an old version, as b"])
    }

    @Test func `needs every figure that it names`() {
        var bar = Bar(
            most: ["out of order": 0], exactly: ["retries": 3], times: ["page ms": 1_000])
        bar.timesOn[.threeG] = ["page in round trips": 1.2]
        var after = measured(reads: 1)
        #expect(complaints(bar, after).count == 3)
        after.figures = ["page ms": 900, "retries": 3, "out of order": 0]
        #expect(complaints(bar, after) == [])
        #expect(complaints(bar, after, on: .threeG) == ["page in round trips was not measured"])
        after.figures = ["page ms": 900, "retries": 2, "out of order": 1, "page in round trips": 1]
        #expect(complaints(bar, after, on: .threeG).count == 2)
    }

    @Test func `makes a remark of a time that is too long, and no complaint`() {
        var bar = Bar(times: ["page ms": 1_000])
        bar.timesOn[.threeG] = ["page ms": 500, "page in round trips": 1.2]
        var after = measured(reads: 1)
        after.figures = ["page ms": 1_001, "page in round trips": 1.3]
        #expect(complaints(bar, after) == [] && complaints(bar, after, on: .threeG) == [])
        #expect(
            bar.slow(after, on: .healthy).map(\.text)
                == ["page 1001 ms, slower than 1000 ms here"])
        #expect(
            bar.slow(after, on: .threeG).map(\.text) == [
                "page in round trips 1.3, slower than 1.2 here",
                "page 1001 ms, slower than 500 ms here",
            ])
        after.failure = "it took longer than 300 s"
        #expect(bar.slow(after, on: .threeG).isEmpty)
    }

    @Test func `wants something on screen before there is a network`() {
        var after = measured(reads: 1)
        after.hadContentOffline = false
        #expect(complaints(Bar(), after, on: .offline).count == 1)
        #expect(complaints(Bar(), after, on: .threeG) == [])
        #expect(complaints(Bar(showsContentOffline: false), after, on: .offline) == [])
    }

    @Test func `wants a device to know what it was billed, unless an answer was lost`() {
        let bar = Bar(isKnownToDevice: true)
        var after = measured(reads: 50)
        #expect(complaints(bar, after) == ["the device counted nothing of 50 reads"])
        after.deviceReads = 49
        #expect(complaints(bar, after) == ["the device counted 49 of 50 reads"])
        after.lostAnswers = 1
        #expect(complaints(bar, after) == [])
        after = measured(reads: 50)
        after.deviceReads = 50
        #expect(complaints(bar, after) == [])
    }

    @Test func `does not hold for what did not come to an end`() {
        var after = measured(reads: 1)
        after.failure = "it took longer than 150 s"
        #expect(complaints(Bar(), after).count == 1)
    }

    @Test func `is written as others read it`() throws {
        let result = ScenarioResult(
            name: "a chat", network: .failing, bar: Bar(reads: 1), before: measured(reads: 9),
            after: measured(reads: 3))
        let data = try JSONEncoder().encode(result)
        let object = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["name"] as? String == "a chat")
        #expect(object["network"] as? String == "failing-30")
        #expect(object["holds"] as? Bool == false)
        #expect(object["bar"] as? String == "at most 1 reads; 0 missed, 0 shown twice")
        #expect((object["before"] as? [String: Any])?["reads"] as? Int == 9)
        #expect((object["after"] as? [String: Any])?["missed"] as? Int == 0)
    }
}
