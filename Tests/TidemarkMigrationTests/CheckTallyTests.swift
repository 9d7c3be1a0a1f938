import Testing
import TidemarkModel

@testable import TidemarkMigration

struct CheckTallyTests {
    private func time(_ seconds: Int64, _ micros: Int64 = 0) -> Timestamp {
        Timestamp(microseconds: seconds * 1_000_000 + micros)
    }

    private func seen(
        _ id: String, _ changeTime: ChangeTime, at updateTime: Timestamp, label: String = "posts"
    ) -> SeenDocument {
        SeenDocument(
            path: DocumentPath(unchecked: "posts/\(id)"), changeTime: changeTime,
            updateTime: updateTime, label: label)
    }

    @Test func `a minute is not yet wrong, and a microsecond more is`() throws {
        var tally = CheckTally()
        tally.take(seen("a", .time(time(1_000)), at: time(1_060)))
        tally.take(seen("b", .time(time(1_060)), at: time(1_000)))
        #expect(tally.found == 0)
        tally.take(seen("c", .time(time(1_000)), at: time(1_060, 1)))
        tally.take(seen("d", .time(time(1_060, 1)), at: time(1_000)))
        let row = try #require(tally.rows["posts"])
        #expect(row.documents == 4)
        #expect(row.stale.first == ["posts/c: 60 s older than its last write"])
        #expect(row.ahead.first == ["posts/d: 60 s later than its last write"])
    }

    @Test func `what has no time is found under its label`() {
        var tally = CheckTally()
        tally.take(seen("a", .missing, at: time(5), label: "functions"))
        tally.take(seen("b", .other("number"), at: time(5), label: "web"))
        tally.take(seen("c", .time(time(5)), at: time(5), label: "web"))
        #expect(tally.rows["functions"]?.missing.count == 1)
        #expect(tally.rows["web"]?.wrongType.first == ["posts/b: number"])
        #expect(tally.rows["web"]?.documents == 2 && tally.found == 2)
    }

    @Test func `what a migration has written last is not a writer's fault`() {
        let windows = [WrittenWindow(from: time(2_000), to: time(2_100))]
        var tally = CheckTally(windows: windows)
        tally.take(seen("a", .time(time(10)), at: time(2_000)))
        tally.take(seen("b", .time(time(10)), at: time(2_100)))
        #expect(tally.found == 0 && tally.migrated == 2)
        // A later write by somebody who forgets the field.
        tally.take(seen("a", .time(time(10)), at: time(2_100, 1)))
        #expect(tally.found == 1)
    }

    @Test func `older writes are not judged, but a missing field is`() {
        var tally = CheckTally(since: time(3_000))
        tally.take(seen("a", .time(time(10)), at: time(2_999)))
        tally.take(seen("b", .missing, at: time(2_999)))
        tally.take(seen("c", .time(time(10)), at: time(3_000)))
        #expect(tally.older == 1 && tally.found == 2)
    }

    @Test func `labels have a bound`() {
        var tally = CheckTally()
        for number in 0..<(CheckTally.maxLabels + 50) {
            tally.take(seen("a", .missing, at: time(1), label: "writer \(number)"))
        }
        #expect(tally.rows.count == CheckTally.maxLabels + 1)
        #expect(tally.rows[CheckTally.otherLabels]?.documents == 50)
        #expect(tally.found == CheckTally.maxLabels + 50)
    }

    @Test func `a check reads all pages, and stops after failures in a row`() {
        var machine = CheckMachine(CheckTally())
        let full = (0..<FillMachine.pageSize).map {
            seen("p\(1_000 + $0)", .time(time(5)), at: time(5))
        }
        let next = machine.step(.page(full))
        #expect(next == .read(after: full.last?.path, limit: FillMachine.pageSize))
        let lost = RPCStatus(.unavailable, "lost")
        #expect(machine.step(.failed(lost)) == .wait(.seconds(1)))
        #expect(machine.step(.woke) == next, "it continues with the same page")
        #expect(machine.step(.page([])) == .end(.finished))
        #expect(machine.reads == FillMachine.pageSize + 1)
        for _ in 1..<FillMachine.maxFailures { _ = machine.step(.failed(lost)) }
        #expect(machine.step(.failed(lost)) == .end(.stopped(lost)))
    }
}
