import Testing
import TidemarkModel

@testable import TidemarkSync

@Suite struct `The change cursor` {
    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func row(_ id: String, _ changed: Int64, _ version: Int64? = nil) -> ChangeCursor.Row {
        ChangeCursor.Row(
            path: DocumentPath(unchecked: "c/" + id), changeTime: time(changed),
            updateTime: time(version ?? changed))
    }

    @Test func `asks from the read time less the overlap, never less than a minute`() {
        var cursor = ChangeCursor(overlap: .seconds(300))
        #expect(cursor.since == nil)
        _ = cursor.receive([], readTime: time(1_000), floor: nil, isLast: true)
        #expect(cursor.since == time(700))
        var short = ChangeCursor(overlap: .seconds(1))
        _ = short.receive([], readTime: time(1_000), floor: nil, isLast: true)
        #expect(short.since == time(940))
    }

    @Test func `moves only when all pages have arrived, and to the first page's time`() {
        var cursor = ChangeCursor()
        _ = cursor.receive([row("a", 1)], readTime: time(1_000), floor: nil, isLast: false)
        #expect(cursor.readTime == nil)
        #expect(cursor.drain?.lastPath == DocumentPath(unchecked: "c/a"))
        _ = cursor.receive([row("b", 2)], readTime: time(1_010), floor: nil, isLast: false)
        #expect(cursor.readTime == nil)
        _ = cursor.receive([row("d", 1_005)], readTime: time(1_020), floor: nil, isLast: true)
        #expect(cursor.readTime == time(1_000), "what was committed since may be missing")
        #expect(cursor.drain == nil)
    }

    @Test func `knows rows of the overlap by path and version`() {
        var cursor = ChangeCursor()
        let first = [row("a", 900), row("b", 950)]
        #expect(
            cursor.receive(first, readTime: time(1_000), floor: nil, isLast: true) == first)
        let again = [row("a", 900), row("b", 950, 1_001), row("c", 1_001)]
        #expect(
            cursor.receive(again, readTime: time(1_100), floor: nil, isLast: true)
                == [again[1], again[2]])
        #expect(cursor.seen.count == 3)
        _ = cursor.receive([], readTime: time(2_000), floor: nil, isLast: true)
        #expect(cursor.seen.isEmpty, "no later delta brings them again")
    }

    @Test func `never moves back`() {
        var cursor = ChangeCursor()
        _ = cursor.receive([], readTime: time(1_000), floor: nil, isLast: true)
        _ = cursor.receive([], readTime: time(900), floor: nil, isLast: true)
        #expect(cursor.readTime == time(1_000))
    }

    @Test func `remembers a bounded number of rows, the newest`() {
        var cursor = ChangeCursor()
        let page = (0..<ChangeCursor.maxSeen + 10).map { row("\($0)", Int64(100_000 + $0)) }
        _ = cursor.receive(page, readTime: time(100_001), floor: nil, isLast: true)
        #expect(cursor.seen.count == ChangeCursor.maxSeen)
        #expect(cursor.seen[page[0].path] == nil)
        #expect(cursor.seen[page[page.count - 1].path] != nil)
    }

    @Test func `progress survives its record, and damage to it is told`() {
        var progress = FeedProgress(overlap: .seconds(120))
        _ = progress.receive(
            [row("a", 950)], readTime: time(1_000), action: time(3), floor: time(3), isLast: true)
        _ = progress.receive(
            [row("b", 990)], readTime: time(1_050), action: time(3), floor: nil, isLast: false)
        let bytes = progress.encoded
        #expect(FeedProgress(encoded: bytes, overlap: .seconds(120)) == progress)
        for count in bytes.indices {
            #expect(FeedProgress(encoded: Array(bytes[..<count]), overlap: .seconds(120)) == nil)
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] = 0xFF
            // It may still be a record, but never a crash.
            _ = FeedProgress(encoded: damaged, overlap: .seconds(120))
        }
    }

    @Test func `a first read covers what is above its floor`() {
        var progress = FeedProgress(overlap: .seconds(300))
        _ = progress.receive([], readTime: time(500), action: time(3), floor: time(3), isLast: true)
        let everything = CoveragePosition.lowest..<CoveragePosition.highest
        #expect(
            progress.coverage.gaps(in: everything) == [.lowest..<CoveragePosition.end(of: time(3))])
        _ = progress.receive([], readTime: time(900), action: time(5), floor: nil, isLast: true)
        #expect(progress.coverage.intervals.map(\.asOf) == [time(900)])
        #expect(progress.coverage.intervals.map(\.lower) == [.end(of: time(5))])
    }

    @Test func `the plan is a first read, then its rest, then deltas`() {
        var progress = FeedProgress(overlap: .seconds(300))
        let first = ReadPlanner.plan(progress, action: time(7), pageSize: 2)
        #expect(first.kind == .first)
        #expect(first.floor == time(7))
        #expect(first.since == nil)
        _ = progress.receive(
            [row("a", 990), row("b", 991)], readTime: time(1_000), action: nil, floor: time(7),
            isLast: false)
        let rest = ReadPlanner.plan(progress, action: time(9), pageSize: 2)
        #expect(rest.kind == .rest)
        #expect(rest.floor == time(7), "the rest of the same query")
        #expect(rest.after?.changeTime == time(991))
        _ = progress.receive([], readTime: time(1_001), action: nil, floor: nil, isLast: true)
        let delta = ReadPlanner.plan(progress, action: time(9), pageSize: 2)
        #expect(delta.kind == .delta)
        #expect(delta.since == time(700))
        #expect(delta.floor == nil)
        #expect(delta.prediction.atLeast == 2, "both rows lie in the overlap")
    }
}
