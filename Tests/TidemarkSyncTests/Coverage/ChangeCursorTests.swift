import Testing
import TidemarkModel

@testable import TidemarkSync

struct `The change cursor` {
    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func row(_ id: String, _ changed: Int64, _ version: Int64? = nil) -> ChangeCursor.Row {
        ChangeCursor.Row(
            path: DocumentPath(unchecked: "c/" + id), changeTime: time(changed),
            updateTime: time(version ?? changed))
    }

    @Test func `asks from the read time less the overlap, never less than a minute`() {
        var cursor = ChangeCursor(overlap: .seconds(300))
        #expect(cursor.since == nil)
        _ = cursor.receive([], readTime: time(1_000), isLast: true)
        #expect(cursor.since == time(700))
        var short = ChangeCursor(overlap: .seconds(1))
        _ = short.receive([], readTime: time(1_000), isLast: true)
        #expect(short.since == time(940))
    }

    @Test func `moves only when all pages have arrived, and to the first page's time`() {
        var cursor = ChangeCursor()
        _ = cursor.receive([row("a", 1)], readTime: time(1_000), isLast: false)
        #expect(cursor.readTime == nil)
        #expect(cursor.drain?.lastPath == DocumentPath(unchecked: "c/a"))
        _ = cursor.receive([row("b", 2)], readTime: time(1_010), isLast: false)
        #expect(cursor.readTime == nil)
        _ = cursor.receive([row("d", 1_005)], readTime: time(1_020), isLast: true)
        #expect(cursor.readTime == time(1_000), "what was committed since may be missing")
        #expect(cursor.drain == nil)
    }

    @Test func `knows rows of the overlap by path and version`() {
        var cursor = ChangeCursor()
        let first = [row("a", 900), row("b", 950)]
        #expect(
            cursor.receive(first, readTime: time(1_000), isLast: true) == first)
        let again = [row("a", 900), row("b", 950, 1_001), row("c", 1_001)]
        #expect(
            cursor.receive(again, readTime: time(1_100), isLast: true)
                == [again[1], again[2]])
        #expect(cursor.seen.count == 3)
        _ = cursor.receive([], readTime: time(2_000), isLast: true)
        #expect(cursor.seen.isEmpty, "no later delta brings them again")
    }

    @Test func `forgets what a page would have brought and has not`() {
        var cursor = ChangeCursor()
        let rows = [row("a", 900), row("b", 910), row("c", 920), row("d", 930)]
        _ = cursor.receive(rows, readTime: time(1_000), isLast: true)
        // The first page ends at c: b is deleted, and d is still unknown.
        let first = [rows[0], rows[2]]
        cursor.forgetGone(from: first, isLast: false)
        #expect(Set(cursor.seen.values) == [rows[0], rows[2], rows[3]])
        #expect(cursor.receive(first, readTime: time(1_010), isLast: false).isEmpty)
        // The last page begins after c and is empty.
        cursor.forgetGone(from: [], isLast: true)
        #expect(Set(cursor.seen.values) == Set(first))
    }

    /// Feed seed 6382: the feed reported fresh data as of the delta's time, which the listener had
    /// not reached.
    @Test func `hears a listener without ending a delta that is later`() {
        var cursor = ChangeCursor()
        _ = cursor.receive([], readTime: time(1_000), isLast: true)
        _ = cursor.receive([row("a", 1_016)], readTime: time(1_282), isLast: false)
        cursor.hear([row("a", 1_016)], readTime: time(1_261))
        #expect(cursor.readTime == time(1_261))
        #expect(cursor.drain?.readTime == time(1_282))
        _ = cursor.receive([row("b", 1_281)], readTime: time(1_290), isLast: true)
        #expect(cursor.readTime == time(1_282))
    }

    @Test func `hears a listener that is later than a delta, which then is not needed`() {
        var cursor = ChangeCursor()
        _ = cursor.receive([], readTime: time(1_000), isLast: true)
        _ = cursor.receive([row("a", 1_016)], readTime: time(1_100), isLast: false)
        cursor.hear([row("a", 1_016), row("b", 1_150)], readTime: time(1_200))
        #expect(cursor.readTime == time(1_200) && cursor.drain == nil)
        #expect(cursor.seen.count == 2)
    }

    @Test func `never moves back`() {
        var cursor = ChangeCursor()
        _ = cursor.receive([], readTime: time(1_000), isLast: true)
        _ = cursor.receive([], readTime: time(900), isLast: true)
        #expect(cursor.readTime == time(1_000))
    }

    @Test func `remembers a bounded number of rows, the newest`() {
        var cursor = ChangeCursor()
        let page = (0..<ChangeCursor.maxSeen + 10).map { row("\($0)", Int64(100_000 + $0)) }
        _ = cursor.receive(page, readTime: time(100_001), isLast: true)
        #expect(cursor.seen.count == ChangeCursor.maxSeen)
        #expect(cursor.seen[page[0].path] == nil)
        #expect(cursor.seen[page[page.count - 1].path] != nil)
    }
}
