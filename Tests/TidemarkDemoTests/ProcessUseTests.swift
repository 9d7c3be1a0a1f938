import Foundation
import Testing

@testable import TidemarkDemo

@Suite struct `What a process uses` {
    @Test func `is read from the files of the system`() {
        let stat = "71 (a ) b) S 1 71 71 0 -1 4194560 9 0 0 0 120 30 0 0 20 0 4 0 5 0"
        #expect(ProcessUse.ticks(inStat: stat) == 150)
        #expect(ProcessUse.ticks(inStat: "71 (a) S 1") == nil)
        #expect(ProcessUse.ticks(inStat: "") == nil)
        let status = "Name:\ta\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n"
        #expect(ProcessUse.wakes(inStatus: status) == 42)
        #expect(ProcessUse.wakes(inStatus: "") == 0)
    }

    #if os(Linux)
        @Test func `grows while it works, and is unknown for no process`() throws {
            let own = ProcessInfo.processInfo.processIdentifier
            let before = try #require(ProcessUse(of: own))
            var sum = 0
            while try #require(ProcessUse(of: own)).milliseconds <= before.milliseconds {
                for number in 0..<100_000 { sum &+= number }
            }
            // The sum keeps the loop from being removed.
            #expect(before.wakes > 0 && sum >= 0)
            #expect(ProcessUse(of: .max) == nil)
        }
    #endif

    @Test func `of a day is 20 launches and four hours of messages`() {
        var day = DayUse()
        day.open.milliseconds = 100
        day.message.milliseconds = 2
        day.quietMinute.milliseconds = 1
        day.quietMinute.wakes = 3
        #expect(day.inDay(\.milliseconds) == 2_000 + 240 * 3)
        #expect(day.inDay(\.wakes) == 720)
        let text = DayCommand.text([.before: day, .after: day])
        #expect(text.contains("processor time of a day           2.7 s         2.7 s"))
        #expect(text.split(separator: "\n").count == 9)
    }
}
