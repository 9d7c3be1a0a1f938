import Foundation
import Testing

@testable import TidemarkDemo

struct `How long a demo takes` {
    private func figures(_ firstTable: Double, _ play: Double, isUsual: Bool = true) -> DemoFigures
    {
        var figures = DemoFigures()
        figures.times = DemoTimes(firstTable: firstTable, play: play, isUsual: isUsual)
        return figures
    }

    @Test func `is told where somebody waits too long, and is nothing wrong`() {
        #expect(figures(10, 550).remarks == [])
        let late = figures(10.5, 600)
        #expect(
            late.remarks == [
                "the first table after 10.5 s, slower than 10 s here",
                "the demo 600 s, slower than 550 s here",
            ])
        #expect(late.complaints == [])
        #expect(figures(99, 1_149, isUsual: false).remarks == [])
    }

    @Test func `is in the summary and in the file`() throws {
        let late = figures(11, 300)
        let lines = DemoSummary(late, seconds: 300, details: nil).lines
        #expect(lines.contains("the first table after 11 s, slower than 10 s here"))
        #expect(
            lines.last
                == "All facts are right. One time is over its limit on this machine. "
                + "300 s of play.")
        let object = try JSONSerialization.jsonObject(with: try late.json()) as? [String: Any]
        let times = object?["times"] as? [String: Any]
        #expect(times?["firstTable"] as? Double == 11 && times?["play"] as? Double == 300)
    }

    /// Only wrong facts change the exit code, unless times are judged.
    @Test func `changes the exit code only where times are judged`() {
        let late = figures(11, 300)
        #expect(!DemoEnd().fails(late))
        #expect(DemoEnd(judge: TimeJudge()).fails(late))
        #expect(!DemoEnd(judge: TimeJudge()).fails(figures(9, 300)))
        var wrong = figures(9, 300)
        wrong.pictures = [
            LaunchScenario(
                name: "a feed", network: "healthy", bar: "", before: [:], after: [:],
                why: ["shown is 39, not 40"])
        ]
        #expect(DemoEnd().fails(wrong))
    }

    @Test func `gives the longest chat its length`() {
        #expect(DemoExtent.full.longChat == 100_000)
        #expect(DemoExtent.telling.longChat == 10_000 && DemoExtent.small.longChat == 20_000)
    }
}

struct `A time that is too long` {
    @Test func `says what it was, what it may be, and that it was here`() {
        let send = SlowTime("send ms", 2_310, limit: 2_000)
        #expect(send?.text == "send 2310 ms, slower than 2000 ms here")
        let page = SlowTime("page in round trips", 1.31, limit: 1.2)
        #expect(page?.text == "page in round trips 1.31, slower than 1.2 here")
        #expect(SlowTime("send ms", 2_000, limit: 2_000) == nil)
        #expect(SlowTime("send ms", .infinity, limit: 1)?.text.contains("endless") == true)
    }
}

struct `A run that is kept` {
    private func speeds(_ slow: Int, of count: Int) -> [MachineSpeed] {
        (0..<count).map { MachineSpeed(beforeMs: 10, afterMs: $0 < slow ? 13.5 : 12.9) }
    }

    @Test func `is of a machine that was as fast at each figure`() {
        #expect(TimeJudge.refusal(of: []) == nil)
        #expect(TimeJudge.refusal(of: speeds(2, of: 20)) == nil)
        #expect(
            TimeJudge.refusal(of: speeds(3, of: 20))
                == "The machine was more than 1.3 times slower beside 3 of 20 figures than at its "
                + "best: before 0 of them, and after the others. The figures are not kept.")
        let before = [
            MachineSpeed(beforeMs: 14, afterMs: 14), MachineSpeed(beforeMs: 9, afterMs: 9),
        ]
        #expect(TimeJudge.refusal(of: before)?.contains("1 of 2 figures") == true)
        #expect(TimeJudge.refusal(of: before)?.contains("before 1 of them") == true)
    }

    /// A release build once moved the loop out of the measurement, and compared 20 ns with 30.
    @Test func `is not one whose loops the compiler has removed`() {
        let speeds = [20e-6, 30e-6].map { MachineSpeed(beforeMs: $0, afterMs: 20e-6) }
        #expect(TimeJudge.refusal(of: speeds)?.contains("the machine is unknown") == true)
    }

    @Test func `has a loop before each figure and after it`() async {
        let judge = TimeJudge()
        let (figure, speed) = await TimeJudge.$current.withValue(judge) {
            await TimeJudge.timed { 7 }
        }
        #expect(figure == 7)
        let least = TimeJudge.leastLoopMs
        #expect(speed.map { $0.beforeMs >= least && $0.afterMs >= least } == true)
        #expect(await TimeJudge.timed { 7 }.speed == nil)
    }
}

struct `The slowest of many` {
    @Test func `is a 99th percentile of 200, and the slowest of fewer`() {
        let times = (1...200).reversed().map(Double.init)
        #expect(SlowestTime(times)?.milliseconds == 198)
        #expect(SlowestTime(times)?.name == "p99 of 200")
        #expect(times.p99 == 198 && Array(times.dropLast()).p99 == nil)
        let few = (1...40).map(Double.init)
        #expect(SlowestTime(few)?.milliseconds == 40)
        #expect(SlowestTime(few)?.name == "slowest of 40")
        #expect(SlowestTime([]) == nil && SlowestTime([1, .infinity]) == nil)
        #expect(few.share(0.5) == 20)
    }

    @Test func `is the time by which so many had ended`() {
        let times = (1...200).reversed().map { Duration.milliseconds($0) }
        #expect(times.median == .milliseconds(100))
        #expect(times.percentile(0.99) == .milliseconds(198))
        #expect(times.percentile(1) == .milliseconds(200))
        #expect([Duration.seconds(1)].percentile(0.5) == .seconds(1))
        #expect([Duration]().percentile(0.99) == nil)
    }
}
