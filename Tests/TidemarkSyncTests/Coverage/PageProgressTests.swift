import Testing
import TidemarkModel

@testable import TidemarkSync

struct `What a pager knows of its pages` {
    private func time(_ seconds: Int) -> Timestamp {
        Timestamp(seconds: Int64(seconds), nanoseconds: 0)
    }

    private func before(_ seconds: Int) -> CoveragePosition {
        .before(time(seconds), DocumentPath(unchecked: "c/d\(seconds)"))
    }

    @Test func `is nothing at first, and then what was read`() {
        var progress = PageProgress()
        #expect(progress.part(below: .highest, asOf: .min) == .gap(downTo: nil))
        progress.insert(before(50)..<before(100), asOf: time(1_000))
        #expect(progress.part(below: before(100), asOf: .min) == .held(downTo: before(50)))
        #expect(progress.part(below: before(70), asOf: .min) == .held(downTo: before(50)))
        #expect(progress.part(below: before(120), asOf: .min) == .gap(downTo: before(100)))
        #expect(progress.part(below: before(50), asOf: .min) == .gap(downTo: nil))
    }

    @Test func `does without what is too old`() {
        var progress = PageProgress()
        progress.insert(before(50)..<before(100), asOf: time(1_000))
        progress.insert(before(10)..<before(50), asOf: time(2_000))
        #expect(progress.part(below: before(100), asOf: .min) == .held(downTo: before(10)))
        #expect(
            progress.part(below: before(100), asOf: time(1_500)) == .gap(downTo: before(50)))
        #expect(
            progress.part(below: before(50), asOf: time(1_500)) == .held(downTo: before(10)))
    }

    @Test func `asks for changes from the first read on`() {
        var progress = PageProgress()
        #expect(progress.cursor.readTime == nil, "where nothing is held nothing can have changed")
        progress.insert(before(50)..<before(100), asOf: time(1_000))
        #expect(progress.cursor.readTime == time(1_000))
        progress.insert(before(10)..<before(50), asOf: time(2_000))
        #expect(progress.cursor.readTime == time(1_000))
        _ = progress.receive([], readTime: time(3_000), isLast: true)
        #expect(progress.cursor.readTime == time(3_000))
        #expect(progress.coverage.intervals.allSatisfy { $0.asOf == time(3_000) })
    }

    @Test func `begins with a known result, between rows that have not changed since`() {
        func row(_ seconds: Int, changed: Int = 0) -> FeedBookRow {
            FeedBookRow(
                path: DocumentPath(unchecked: "c/d\(seconds)"), itemTime: time(seconds),
                changeTime: nil, updateTime: time(changed))
        }
        func begun(_ isAll: Bool, _ rows: FeedBookRow...) -> Range<CoveragePosition>? {
            let made = PageProgress.beginning(with: rows, asOf: time(1_000), isAll: isAll)
            #expect(made.map { $0.progress.cursor.readTime == time(1_000) } ?? true)
            #expect(made.map { $0.progress.coverage.contains($0.covered) } ?? true)
            return made?.covered
        }
        func after(_ seconds: Int) -> CoveragePosition {
            .after(time(seconds), DocumentPath(unchecked: "c/d\(seconds)"))
        }
        #expect(begun(true, row(50), row(90), row(10)) == .lowest..<after(90))
        #expect(begun(false, row(50), row(90), row(10)) == before(10)..<after(90))
        // Rows that have changed since can have been elsewhere then.
        let moved = (row(99, changed: 1_001), row(5, changed: 1_001))
        #expect(begun(false, moved.0, row(50), row(90), moved.1) == before(50)..<after(90))
        #expect(begun(true, moved.0, row(50), moved.1) == .lowest..<after(50))
        #expect(begun(true, moved.0, moved.1) == nil && begun(true) == nil && begun(false) == nil)
    }

    @Test func `is bounded, and forgets from below`() {
        var progress = PageProgress()
        for number in 0..<PageProgress.maxIntervals + 20 {
            progress.insert(
                before(number * 10)..<before(number * 10 + 5), asOf: time(number + 1_000))
        }
        #expect(progress.coverage.intervals.count == PageProgress.maxIntervals)
        #expect(progress.part(below: before(5), asOf: .min) == .gap(downTo: nil))
        let top = (PageProgress.maxIntervals + 19) * 10
        #expect(progress.part(below: before(top + 5), asOf: .min) == .held(downTo: before(top)))
    }

    @Test func `holds a long list that was read page by page, each at a time of its own`() {
        var progress = PageProgress()
        let pages = 3 * PageProgress.maxIntervals
        for page in 0..<pages {
            let upper = (pages - page) * 10
            progress.insert(before(upper - 10)..<before(upper), asOf: time(page + 1_000))
        }
        #expect(progress.coverage.intervals.count == PageProgress.maxIntervals)
        #expect(progress.part(below: before(pages * 10), asOf: .min) == .held(downTo: before(0)))
        // No interval claims a later time than the time of its read.
        #expect(progress.coverage.intervals.allSatisfy { $0.asOf <= time(pages + 1_000) })
        #expect(
            progress.coverage.asOf(time(pages * 10 - 5), DocumentPath(unchecked: "c/x"))
                == time(1_000))
    }

    @Test func `is the same when it was stored, and nothing when that is damaged`() {
        var progress = PageProgress()
        progress.insert(before(50)..<before(100), asOf: time(1_000))
        progress.insert(.lowest..<before(10), asOf: time(2_000))
        let row = ChangeCursor.Row(
            path: DocumentPath(unchecked: "c/d1"), changeTime: time(2_990),
            updateTime: time(2_991))
        _ = progress.receive([row], readTime: time(3_000), isLast: true)
        #expect(PageProgress(encoded: progress.encoded) == progress)
        for count in 0..<progress.encoded.count {
            #expect(PageProgress(encoded: Array(progress.encoded.prefix(count))) == nil)
        }
    }
}
