import Foundation
import Testing

@testable import TidemarkDemo

@Suite struct `How long a demo takes` {
    private func times(
        _ firstTable: Double, _ play: Double, isJudged: Bool = true, load: Double? = 0.1
    ) -> DemoTimes {
        DemoTimes(firstTable: firstTable, play: play, isJudged: isJudged, load: load)
    }

    @Test func `is told where somebody waits too long`() {
        #expect(times(10, 360).complaints == [])
        let both = [
            "The first table came after 10.5 s, and 10 s are the most.",
            "The demo took 400 s, and 360 s are the most.",
        ]
        #expect(times(10.5, 400).complaints == both)
        #expect(times(10.5, 400, load: nil).complaints == both)
        #expect(times(99, 1_149, isJudged: false).complaints == [])
    }

    @Test func `is not held against it after a build`() {
        let busy = times(10.1, 300, load: 0.9)
        #expect(busy.complaints == [])
        #expect(
            busy.remark
                == "The first table came after 10.1 s, and 10 s are the most. That is not held "
                + "against it: the machine was busy before it began (0.9 of each core).")
        #expect(times(9, 300, load: 0.9).remark == nil && times(11, 300).remark == nil)
        let tooLong = times(20.5, 300, load: 0.9)
        #expect(
            tooLong.complaints == ["The first table came after 20.5 s, and 20 s are the most."])
        #expect(tooLong.remark == nil)
        var figures = DemoFigures()
        figures.times = busy
        let lines = DemoSummary(figures, seconds: 300, details: nil).lines
        #expect(lines.contains(busy.remark!))
        #expect(lines.contains { $0.hasPrefix("Everything holds.") })
    }

    @Test func `fails it, and is in its figures`() throws {
        var figures = DemoFigures()
        figures.times = times(11, 300)
        #expect(figures.complaints.count == 1)
        let lines = DemoSummary(figures, seconds: 300, details: nil).lines
        #expect(lines.contains { $0.hasPrefix("The first table came after 11 s") })
        let object = try JSONSerialization.jsonObject(with: try figures.json()) as? [String: Any]
        let times = object?["times"] as? [String: Any]
        #expect(times?["firstTable"] as? Double == 11 && times?["play"] as? Double == 300)
    }

    @Test func `gives the longest chat its length`() {
        #expect(DemoExtent.full.longChat == 100_000)
        #expect(DemoExtent.telling.longChat == 10_000 && DemoExtent.small.longChat == 20_000)
    }
}

@Suite struct `A share of what was measured` {
    @Test func `is the time by which so many had ended`() {
        let times = (1...200).reversed().map { Duration.milliseconds($0) }
        #expect(times.median == .milliseconds(100))
        #expect(times.percentile(0.99) == .milliseconds(198))
        #expect(times.percentile(1) == .milliseconds(200))
        #expect([Duration.seconds(1)].percentile(0.99) == .seconds(1))
        #expect([Duration]().percentile(0.99) == nil)
    }
}
