import Testing
import TidemarkModel

@testable import TidemarkSync

struct `What a feed knows` {
    private let everything = CoveragePosition.lowest..<CoveragePosition.highest
    private let changes = FeedRules(way: .changeTime(audited: false), pageSize: 2)

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func row(_ id: String, _ item: Int64, changed: Int64? = nil) -> FeedBookRow {
        FeedBookRow(
            path: DocumentPath(unchecked: "c/" + id), itemTime: time(item),
            changeTime: changed.map(time), updateTime: time(changed ?? item))
    }

    private func plan(
        _ progress: FeedProgress, _ reach: SyncReach = SyncReach(), action: Int64? = nil,
        _ rules: FeedRules = FeedRules(way: .changeTime(audited: false), pageSize: 2)
    ) throws -> ReadPlan {
        try #require(
            ReadPlanner.next(progress, reach: reach, action: action.map(time), rules: rules))
    }

    @Test func `survives its record, and damage to it is told`() throws {
        var progress = FeedProgress(overlap: .seconds(120))
        let full = try plan(progress, action: 3)
        _ = progress.receive(
            [row("a", 950, changed: 990), row("b", 900, changed: 980)], of: full,
            readTime: time(1_000), rules: changes)
        let delta = try plan(progress, action: 3)
        _ = progress.receive(
            [row("c", 990, changed: 1_001), row("d", 991, changed: 1_002)], of: delta,
            readTime: time(1_050), rules: changes)
        #expect(progress.cursor.drain != nil)
        let bytes = progress.encoded
        #expect(FeedProgress(encoded: bytes, overlap: .seconds(120)) == progress)
        for count in bytes.indices {
            #expect(FeedProgress(encoded: Array(bytes[..<count]), overlap: .seconds(120)) == nil)
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] = 0xFF
            // Damaged bytes may still be a valid record, but must not cause a crash.
            _ = FeedProgress(encoded: damaged, overlap: .seconds(120))
        }
    }

    @Test func `begins with a known result, down to the last row that has not changed since`() {
        func begun(_ isAll: Bool, _ rows: FeedBookRow...) -> Range<CoveragePosition>? {
            let made = FeedProgress.beginning(
                with: rows, asOf: time(1_000), isAll: isAll, rules: changes)
            #expect(made.map { $0.progress.cursor.readTime == time(1_000) } ?? true)
            #expect(made.map { $0.progress.coverage.contains($0.covered) } ?? true)
            return made?.covered
        }
        let (a, b) = (row("a", 900, changed: 900), row("b", 800, changed: 800))
        let later = row("c", 10, changed: 1_001)
        #expect(begun(true, a, b) == everything)
        #expect(begun(true, later) == everything && begun(true) == everything)
        let down = CoveragePosition.before(time(800), b.path)..<CoveragePosition.highest
        #expect(begun(false, a, b) == down)
        #expect(begun(false, a, b, later) == down, "it can have been newer then")
        #expect(begun(false, later) == nil && begun(false) == nil)
    }

    @Test func `knows which results notify what exists by item time`() throws {
        let field = try FieldPath(encoded: "sentAt")
        func shape(_ text: String) -> ResultShape? { ResultShape(text[...], by: field) }
        for text in ["__name__ asc", "sentAt desc,__name__ desc", "sentAt asc,__name__ asc"] {
            #expect(shape(text)?.limit == .some(nil))
        }
        #expect(shape("sentAt desc,__name__ desc|l:20")?.limit == 20)
        for text in [
            "sentAt asc,__name__ asc|l:20", "sentAt2 desc,__name__ desc", "__name__ asc|l:5",
            "sentAt desc,__name__ desc|lb:b[t1.0]", "sentAt desc,__name__ desc|l:20|o:3",
        ] { #expect(shape(text) == nil, "\(text)") }
    }

    @Test func `keeps the device's clock, and reads records without one`() throws {
        var progress = FeedProgress(overlap: .seconds(120))
        _ = progress.receive(
            [row("a", 950, changed: 990)], of: try plan(progress), readTime: time(1_000),
            rules: changes)
        var old = progress.encoded
        old[0] = 5
        #expect(FeedProgress(encoded: Array(old.dropLast()), overlap: .seconds(120)) == progress)
        progress.note(now: time(7))
        let read = FeedProgress(encoded: progress.encoded, overlap: .seconds(120))
        #expect(read == progress && read?.notedAt == time(7))
    }

    @Test func `a first read goes down page by page, and then follows the changes`() throws {
        var progress = FeedProgress(overlap: .seconds(300))
        var reach = SyncReach()
        let full = try plan(progress, reach, action: 7)
        #expect(full.kind == .full)
        #expect(full.floor == time(7))
        #expect(full.since == nil)
        let first = [row("a", 990, changed: 991), row("b", 980, changed: 990)]
        let fresh = progress.receive(first, of: full, readTime: time(1_000), rules: changes)
        #expect(fresh == first)
        reach.startedAt = time(1_000)
        #expect(progress.readTime(above: time(7), changes) == nil, "there is more below")
        let rest = try plan(progress, reach, action: 7)
        #expect(rest.kind == .page)
        #expect(
            rest.question
                == .items(
                    .end(of: time(7))..<CoveragePosition.before(time(980), first[1].path)))
        _ = progress.receive([row("c", 8)], of: rest, readTime: time(1_001), rules: changes)
        #expect(ReadPlanner.next(progress, reach: reach, action: time(7), rules: changes) == nil)
        #expect(progress.readTime(above: time(7), changes) == time(1_000))
        #expect(
            progress.coverage.gaps(in: everything) == [.lowest..<CoveragePosition.end(of: time(7))])

        let delta = try plan(progress, action: 7)
        #expect(delta.kind == .delta)
        #expect(delta.since == time(700))
        #expect(delta.floor == nil)
        #expect(delta.prediction.ifUnchanged == nil, "those below the mark may come too")
        let again = progress.receive(
            first.reversed(), of: delta, readTime: time(1_100), rules: changes)
        #expect(again.isEmpty, "they are known by path and version")
        #expect(try plan(progress, action: 7).since == time(700), "a page more of this delta")
        _ = progress.receive(
            [], of: try plan(progress, action: 7), readTime: time(1_101), rules: changes)
        #expect(
            try plan(progress, action: 7).prediction.ifUnchanged == 2, "both lie in the overlap")
        _ = progress.receive(
            [first[1]], of: try plan(progress, action: 7), readTime: time(1_102), rules: changes)
        #expect(try plan(progress, action: 7).prediction.ifUnchanged == 1, "the other is gone")
    }

    @Test func `goes on behind what a full listener shows`() throws {
        var progress = FeedProgress(overlap: .seconds(300))
        let (old, known) = (row("o", 690, changed: 690), row("k", 900, changed: 900))
        let full = try plan(progress)
        _ = progress.receive([known], of: full, readTime: time(1_000), rules: changes)
        let before = progress
        #expect(progress.heardPage([known], readTime: time(1_000)) == nil, "nothing later")
        #expect(progress.heardPage([old], readTime: time(9_000)) == nil, "known before")
        #expect(progress == before)
        let (new, last) = (row("n", 8_000, changed: 8_000), row("l", 10, changed: 8_001))
        #expect(progress.heardPage([old, known, new, last], readTime: time(9_000)) == 2)
        #expect(progress.readTime(above: nil, changes) == nil, "there are more changes")
        var reach = SyncReach()
        reach.startedAt = time(9_000)
        let rest = try plan(progress, reach)
        #expect(
            rest.question
                == .changes(
                    since: time(700),
                    after: ReadPlan.Place(changeTime: time(8_001), path: last.path)))
        let drained = progress
        #expect(progress.heardPage([new], readTime: time(9_001)) == nil, "pages are to come")
        #expect(progress == drained)
        _ = progress.receive([], of: rest, readTime: time(9_002), rules: changes)
        #expect(progress.readTime(above: nil, changes) == time(9_000))
        #expect(ReadPlanner.next(progress, reach: reach, action: nil, rules: changes) == nil)
    }

    @Test func `a clear mark that is reset opens what it hid`() throws {
        var progress = FeedProgress(overlap: .seconds(300))
        let full = try plan(progress, action: 7)
        _ = progress.receive([], of: full, readTime: time(1_000), rules: changes)
        #expect(progress.readTime(above: time(7), changes) == time(1_000))
        #expect(progress.readTime(above: nil, changes) == nil)
        #expect(progress.gaps(above: nil, changes) == [.lowest..<CoveragePosition.end(of: time(7))])
    }

    @Test func `a read that was cut off goes on, after what changed since`() throws {
        var progress = FeedProgress(overlap: .seconds(300))
        let full = try plan(progress)
        _ = progress.receive(
            [row("a", 990, changed: 990), row("b", 980, changed: 980)], of: full,
            readTime: time(1_000), rules: changes)
        var reach = SyncReach()
        #expect(try plan(progress, reach).kind == .delta)
        _ = progress.receive(
            [], of: try plan(progress, reach), readTime: time(9_000), rules: changes)
        reach.startedAt = time(9_000)
        #expect(try plan(progress, reach).kind == .page)
    }

    @Test func `without change times the newest are asked for, those of equal time too`() throws {
        let rules = FeedRules(way: .itemTime, pageSize: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        var reach = SyncReach()
        #expect(try plan(progress, reach, rules).kind == .full)
        let first = [row("b", 9), row("a", 9)]
        _ = progress.receive(
            first, of: try plan(progress, reach, rules), readTime: time(100), rules: rules)
        reach.hasHead = true
        let rest = try plan(progress, reach, rules)
        _ = progress.receive([], of: rest, readTime: time(101), rules: rules)
        #expect(ReadPlanner.next(progress, reach: reach, action: nil, rules: rules) == nil)
        #expect(progress.readTime(above: nil, rules) == time(100))
        #expect(try plan(progress, SyncReach(), rules).prediction.ifUnchanged == 2, "of one time")

        let head = try plan(progress, SyncReach(), rules)
        #expect(head.kind == .page)
        #expect(
            head.question
                == .items(.start(of: time(9))..<CoveragePosition.highest))
        // Two newer items exist, but a page shows only the newer of them. The rest is a gap.
        let newer = [row("d", 20), row("c", 15)]
        #expect(progress.receive(newer, of: head, readTime: time(200), rules: rules) == newer)
        let gap = try plan(progress, reach, rules)
        #expect(
            gap.question
                == .items(
                    .start(of: time(9))..<CoveragePosition.before(time(15), newer[1].path)))
        let equal = [row("aa", 9), row("a", 9)]
        _ = progress.receive(equal, of: gap, readTime: time(201), rules: rules)
    }

    /// Regression: a feed took its only item's deletion for the end of the collection. Seed 4886 of
    /// `FeedHistoryTests`.
    @Test(arguments: [FeedRules.Way.itemTime, .audit])
    func `a newest item that is gone hides nothing that was never read below it`(
        way: FeedRules.Way
    ) throws {
        let rules = FeedRules(way: way, pageSize: 1)
        var progress = FeedProgress(overlap: .seconds(300))
        let full = try plan(progress, SyncReach(), rules)
        _ = progress.receive([row("b", 9)], of: full, readTime: time(100), rules: rules)
        // The app is killed and launched again.
        let head = try plan(progress, SyncReach(), rules)
        _ = progress.receive([], of: head, readTime: time(200), rules: rules)
        #expect(progress.readTime(above: nil, rules) == nil)
        var reach = SyncReach()
        reach.hasHead = true
        let rest = try plan(progress, reach, rules)
        #expect(rest.question == .items(.lowest..<CoveragePosition.start(of: time(9))))
        _ = progress.receive([], of: rest, readTime: time(201), rules: rules)
        #expect(progress.readTime(above: nil, rules) != nil)
    }

    private func held(
        _ count: Int, wanted: Int = 0, after progress: FeedProgress
    ) -> SyncReach {
        var reach = SyncReach(olderOf: progress)
        (reach.held, reach.wanted) = (count, wanted)
        return reach
    }

    /// Bounded feed seed 3584: the prediction counted only the items of the first page.
    @Test func `items of the newest time are counted over all pages that brought them`() throws {
        let rules = FeedRules(way: .itemTime, pageSize: 3, limit: 1)
        var progress = FeedProgress(overlap: .seconds(60))
        let newest = try plan(progress, SyncReach(), rules)
        #expect(newest.pageSize == 1)
        _ = progress.receive([row("c", 9)], of: newest, readTime: time(100), rules: rules)
        var reach = SyncReach(olderOf: progress)
        (reach.held, reach.wanted) = (1, 3)
        let older = try plan(progress, reach, rules)
        _ = progress.receive(
            [row("b", 9), row("a", 9)], of: older, readTime: time(101), rules: rules)
        reach = SyncReach()
        reach.wanted = 3
        #expect(try plan(progress, reach, rules).prediction.ifUnchanged == 3)
    }

    @Test func `a bounded feed asks for its newest items, and for older ones when they are wanted`()
        throws
    {
        let rules = FeedRules(way: .changeTime(audited: false), pageSize: 500, limit: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        let full = try plan(progress, SyncReach(), rules)
        #expect(full.pageSize == 2 && full.prediction.atMost == 2)
        let first = [row("d", 990, changed: 990), row("c", 980, changed: 980)]
        _ = progress.receive(first, of: full, readTime: time(1_000), rules: rules)
        #expect(progress.readTime(above: nil, rules) == time(1_000))
        #expect(progress.base(above: nil, rules) == .before(time(980), first[1].path))
        #expect(progress.base(above: time(985), rules) == .end(of: time(985)))
        let tail = CoveragePosition.lowest..<CoveragePosition.before(time(980), first[1].path)
        #expect(progress.tail(above: nil, rules) == tail)
        #expect(progress.tail(above: time(985), rules) == nil, "nothing below the mark is wanted")

        // The cases: enough items are held, one item was deleted since, and the app asks for more
        // items.
        func next(_ reach: SyncReach) -> ReadPlan? {
            ReadPlanner.next(progress, reach: reach, action: nil, rules: rules)
        }
        #expect(next(held(2, after: progress)) == nil)
        #expect(next(held(1, after: progress))?.question == .items(tail))
        #expect(next(held(1, after: progress))?.pageSize == 1)
        let more = try #require(next(held(2, wanted: 50, after: progress)))
        #expect(more.pageSize == 48)
        _ = progress.receive(
            [row("b", 970, changed: 970)], of: more, readTime: time(1_001), rules: rules)
        #expect(progress.tail(above: nil, rules) == nil, "a short page is the last")
        #expect(progress.base(above: nil, rules) == .lowest)
    }

    @Test func `a bounded feed that missed more than it holds reads its newest items anew`() throws
    {
        let rules = FeedRules(way: .changeTime(audited: false), pageSize: 2, limit: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        _ = progress.receive(
            [row("b", 990, changed: 990), row("a", 980, changed: 980)],
            of: try plan(progress, SyncReach(), rules), readTime: time(1_000), rules: rules)
        var reach = SyncReach()
        let delta = try plan(progress, reach, rules)
        let page = [row("c", 5_000, changed: 5_000), row("d", 5_001, changed: 5_001)]
        let fresh = progress.receive(page, of: delta, readTime: time(9_000), rules: rules)
        reach.startedAt = time(9_000)
        reach.take(delta, news: fresh.count)
        let anew = try plan(progress, reach, rules)
        #expect(anew.beginsAnew && anew.pageSize == 2)
        #expect(anew.question == .items(everything))
        // The coverage from before stays until the new page arrives.
        #expect(progress.coverage.asOf(time(990), DocumentPath(unchecked: "c/b")) != nil)
        _ = progress.receive(
            [row("z", 8_000, changed: 8_000), row("y", 7_990, changed: 7_990)], of: anew,
            readTime: time(9_001), rules: rules)
        #expect(progress.coverage.asOf(time(990), DocumentPath(unchecked: "c/b")) == nil)
        #expect(progress.cursor.drain == nil && progress.cursor.readTime == time(9_001))
        reach.take(anew, news: 2)
        #expect(ReadPlanner.next(progress, reach: reach, action: nil, rules: rules) == nil)
    }

    @Test func `in a bounded feed what lies below a gap waits until somebody gets there`() throws {
        let rules = FeedRules(way: .audit, pageSize: 2, limit: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        let old = [row("b", 9), row("a", 8)]
        _ = progress.receive(
            old, of: try plan(progress, SyncReach(), rules), readTime: time(100), rules: rules)
        let new = [row("e", 30), row("d", 20)]
        _ = progress.receive(
            new, of: try plan(progress, SyncReach(), rules), readTime: time(200), rules: rules)
        #expect(progress.base(above: nil, rules) == .before(time(20), new[1].path))
        #expect(progress.readTime(above: nil, rules) == time(200), "of what it shows")
        let gap = try plan(progress, held(2, wanted: 3, after: progress), rules)
        _ = progress.receive([row("c", 10)], of: gap, readTime: time(201), rules: rules)
        // A part of the gap remains, or the gap has joined data that was read long ago. An audit
        // checks that data.
        var reach = held(3, wanted: 3, after: progress)
        reach.take(gap, news: 1)
        if progress.base(above: nil, rules) < .before(time(9), old[0].path) {
            #expect(try plan(progress, reach, rules).kind == .audit)
        }
    }

    @Test func `an audit is of what was held before the sync`() throws {
        let rules = FeedRules(way: .audit, pageSize: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        let full = try plan(progress, SyncReach(), rules)
        _ = progress.receive([row("a", 9)], of: full, readTime: time(100), rules: rules)
        var reach = SyncReach()
        reach.startedAt = time(100)
        reach.hasHead = true
        #expect(ReadPlanner.next(progress, reach: reach, action: nil, rules: rules) == nil)
        reach.startedAt = time(200)
        let audit = try plan(progress, reach, rules)
        #expect(audit.kind == .audit)
        let top = CoveragePosition.after(time(9), DocumentPath(unchecked: "c/a"))
        #expect(audit.question == .figures([.lowest..<top]))
        progress.confirm([.lowest..<top], asOf: time(200))
        #expect(ReadPlanner.next(progress, reach: reach, action: nil, rules: rules) == nil)
    }
}
