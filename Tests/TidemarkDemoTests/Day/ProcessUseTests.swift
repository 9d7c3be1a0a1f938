import Foundation
import Testing

@testable import TidemarkDemo

struct `What a process uses` {
    @Test func `is read from the files of the system`() {
        #expect(ThreadSum.nanoseconds(inSchedstat: "905440 6759209 2\n") == 905_440)
        #expect(ThreadSum.nanoseconds(inSchedstat: "") == 0)
        let status = "Name:\ta\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n"
        #expect(ThreadSum.wakes(inStatus: status) == 42)
        #expect(ThreadSum.wakes(inStatus: "") == 0)
    }

    @Test func `keeps what ended threads have used`() {
        var sum = ThreadSum()
        sum.add([
            "1": .init(nanoseconds: 2_000_000, wakes: 5), "2": .init(nanoseconds: 1, wakes: 1),
        ])
        sum.add(["1": .init(nanoseconds: 3_000_000, wakes: 6)])
        #expect(sum.use.milliseconds == 3.000_001 && sum.use.wakes == 7)
        // A new thread has the number of an ended thread.
        sum.add([
            "1": .init(nanoseconds: 3_000_000, wakes: 6), "2": .init(nanoseconds: 0, wakes: 1),
        ])
        sum.add(["1": .init(nanoseconds: 1_000_000, wakes: 2)])
        #expect(sum.use.milliseconds == 4.000_001 && sum.use.wakes == 10)
    }

    #if os(Linux)
        @Test func `grows while it works, and is unknown for no process`() throws {
            let own = ProcessInfo.processInfo.processIdentifier
            var sum = ThreadSum()
            sum.add(try #require(ThreadSum.threads(of: own)))
            let before = sum.use
            var result = 0
            while sum.use.milliseconds <= before.milliseconds {
                for number in 0..<100_000 { result &+= number }
                sum.add(try #require(ThreadSum.threads(of: own)))
            }
            // The result keeps the loop from being removed.
            #expect(before.wakes > 0 && result >= 0)
            #expect(ThreadSum.threads(of: .max) == nil)
        }
    #endif

    @Test func `of a day is 20 launches and four hours of messages`() {
        var day = DayUse()
        day.launch.milliseconds = 100
        day.launch.bursts = 1
        day.message.milliseconds = 2
        day.minute.milliseconds = 3
        day.minute.wakes = 3
        day.minute.bursts = 2
        #expect(day.inDay(\.milliseconds) == 2_000 + 240 * 3)
        #expect(day.inDay(\.wakes) == 720)
        #expect(day.inDay(\.bursts) == 20 + 480)
        let text = DayDemo.text([.before: day, .after: day])
        #expect(text.contains("processor time of a day           2.7 s         2.7 s"))
        #expect(text.contains("bursts of a day                   500.0         500.0"))
    }
}

struct `The launches of a day` {
    private func complaints(before: Double, after: Double) -> [String] {
        var uses = [DayVersion.before: DayUse(), .after: DayUse()]
        uses[.before]?.launch.bytes = before
        uses[.after]?.launch.bytes = after
        return DayDemo(held: 1_000).complaints(uses)
    }

    @Test func `receive the whole chat as it was, and less on Tidemark`() {
        #expect(complaints(before: 152_000, after: 2_600).isEmpty)
        #expect(
            complaints(before: 1_700, after: 1_200) == [
                "a launch of the app as it was received 1700 bytes, and not the 1,000 messages"
            ])
        #expect(
            complaints(before: 152_000, after: 152_000) == [
                "a launch on Tidemark received 152000 bytes, and as it was 152000"
            ])
    }
}

struct `A day in the summary` {
    @Test func `is one row, with the figures of the day alone`() {
        var use = DayUse()
        use.launch = ProcessUse(milliseconds: 60, wakes: 30, bursts: 1, bytes: 184_000)
        use.minute = ProcessUse(milliseconds: 7, wakes: 78, bursts: 2, bytes: 400)
        let figures = Dictionary(
            uniqueKeysWithValues: use.figures.map { ($0.name + $0.unit, $0.value) })
        let row = SummaryRow.day(
            LaunchScenario(
                name: DayDemo.name, network: "healthy", bar: "", before: figures, after: figures))
        #expect(row.before == "2.9 s, 19,320 wake-ups, 500 bursts, 3.8 MB" && row.holds)
    }
}

struct `The services of a day` {
    private func use(_ wakes: Double) -> DayUse {
        var use = DayUse()
        use.minute.wakes = wakes
        return use
    }

    @Test func `are the differences of apps that have one service more each`() {
        var uses: [DayVersion: DayUse] = [.before: use(900)]
        for (number, version) in DayVersion.onTidemark.enumerated() {
            uses[version] = use(Double(number * number + 1))
        }
        let services = DayDemo.services(uses)
        #expect(services.map(\.0) == DayVersion.onTidemark)
        #expect(services.map(\.1.minute.wakes) == [1, 1, 3, 5, 7, 9])
        let lines = DayDemo.textOfServices(uses).split(separator: "\n")
        #expect(lines.count == 8)
        #expect(lines[5].hasPrefix("shared marks"))
        #expect(lines[5].contains(" 1680.0 "), "seven in each of 240 minutes")
        #expect(lines[7].hasPrefix("all ") && lines[7].contains(" 6240.0 "))
    }

    @Test func `are all of the version before, and one more`() {
        for (version, next) in zip(DayVersion.onTidemark, DayVersion.onTidemark.dropFirst()) {
            #expect(next.has(version) && next.has(next) && !version.has(next))
        }
        #expect(DayVersion.onTidemark == Array(DayVersion.allCases.dropFirst()))
        #expect(!DayVersion.before.has(.feed) && DayVersion.before.isLive)
        #expect(DayVersion.allCases.filter { !$0.isLive } == [.process, .signIn, .feed])
        #expect(DayVersion.allCases.filter { !$0.showsMessages } == [.process, .signIn])
    }
}

struct `A burst of the network` {
    @Test func `ends with ten seconds of silence`() {
        var count = BurstCount()
        #expect(count.bursts == 0)
        count.add(100, at: .seconds(1))
        count.add(20, at: .seconds(10))
        count.add(3, at: .milliseconds(19_999))
        #expect(count.bursts == 1 && count.bytes == 123)
        count.add(1, at: .milliseconds(29_999))
        #expect(count.bursts == 2, "after exactly ten seconds")
        count.add(0, at: .seconds(90))
        #expect(count.bursts == 2, "no bytes are no burst")
        count.pause()
        count.add(1, at: .seconds(91))
        #expect(count.bursts == 3, "hours have passed")
    }
}
