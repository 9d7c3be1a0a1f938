import Testing
import Tidemark

@testable import TidemarkApp

struct `Pages of a collection` {
    private typealias Machine = PageMachine<Int>

    private func rows(_ times: some Sequence<Int>) -> [PageRow<Int>] {
        times.map { PageRow(position($0), $0) }
    }

    private func position(_ time: Int, _ name: String? = nil) -> PagePosition {
        PagePosition(
            value: .integer(Int64(time)),
            path: DocumentPath(unchecked: "c/" + (name ?? "d\(time)")))
    }

    private func down(_ from: Int, to: Int) -> StrideThrough<Int> {
        stride(from: from, through: to, by: -1)
    }

    private func shown(_ machine: Machine) -> [Int] { machine.rows.map(\.content) }

    /// Returns a machine with the head and one page, of ten rows each.
    private func opened() -> Machine {
        var machine = Machine(pageSize: 10)
        _ = machine.step(.start)
        _ = machine.step(.snapshot(1, rows(down(100, to: 91)), isFromCache: false))
        _ = machine.step(.loadMore)
        _ = machine.step(.snapshot(2, rows(down(90, to: 81)), isFromCache: false))
        return machine
    }

    @Test func `begin with the live head, and go on below it, one at a time`() {
        var machine = Machine(pageSize: 10)
        #expect(machine.step(.loadMore) == [.listen(1, after: nil, limit: 10)], "the head first")
        #expect(machine.isLoadingMore && machine.hasMore)
        #expect(machine.step(.loadMore).isEmpty)
        _ = machine.step(.snapshot(1, rows(down(100, to: 91)), isFromCache: false))
        #expect(!machine.isLoadingMore)
        #expect(machine.step(.loadMore) == [.listen(2, after: position(91), limit: 10)])
        #expect(machine.step(.loadMore).isEmpty, "never twice at once")
        _ = machine.step(.snapshot(2, rows(down(90, to: 88)), isFromCache: false))
        #expect(shown(machine) == Array(down(100, to: 88)))
        #expect(!machine.hasMore, "a short page ends it")
        #expect(machine.step(.loadMore).isEmpty)
    }

    @Test func `end at once where there is nothing`() {
        var machine = Machine(pageSize: 10)
        _ = machine.step(.start)
        _ = machine.step(.snapshot(1, [], isFromCache: true))
        #expect(machine.isLoadingMore, "that the device holds nothing says nothing")
        _ = machine.step(.snapshot(1, [], isFromCache: false))
        #expect(!machine.hasMore && !machine.isLoadingMore)
        _ = machine.step(.snapshot(1, rows([5]), isFromCache: false))
        #expect(shown(machine) == [5])
    }

    @Test func `keep what new rows push out of the head`() {
        var machine = opened()
        _ = machine.step(.snapshot(1, rows(down(103, to: 94)), isFromCache: false))
        #expect(shown(machine) == Array(down(103, to: 81)))
    }

    @Test func `ask again for a page that only the cache told of and whose listener failed`() {
        var machine = opened()
        _ = machine.step(.loadMore)
        // The server also has 79, which the device does not know.
        _ = machine.step(.snapshot(3, rows([80, 78]), isFromCache: true))
        #expect(shown(machine) == Array(down(100, to: 80)) + [78])
        _ = machine.step(.failed(3, FirestoreError(.permissionDenied, "no")))
        #expect(shown(machine) == Array(down(100, to: 81)))
        #expect(machine.step(.loadMore) == [.listen(4, after: position(81), limit: 10)])
    }

    @Test func `ask for nothing below a page that the cache cannot fill`() {
        var machine = opened()
        _ = machine.step(.loadMore)
        _ = machine.step(.snapshot(3, rows([80, 78]), isFromCache: true))
        #expect(machine.step(.loadMore).isEmpty, "an empty page below would cost a read")
        _ = machine.step(.snapshot(3, rows(down(80, to: 71)), isFromCache: false))
        #expect(machine.step(.loadMore) == [.listen(4, after: position(71), limit: 10)])
        // A full page may have rows below it in the cache.
        _ = machine.step(.snapshot(4, rows(down(70, to: 61)), isFromCache: true))
        #expect(machine.step(.loadMore) == [.listen(5, after: position(61), limit: 10)])
    }

    @Test func `take nothing from the cache below what the server has confirmed`() {
        var machine = Machine(pageSize: 4)
        _ = machine.step(.start)
        _ = machine.step(.snapshot(1, rows([9, 8, 7, 6]), isFromCache: false))
        // The device deletes 6. Of the rows below, the device holds only 1.
        _ = machine.step(.snapshot(1, rows([9, 8, 7, 1]), isFromCache: true))
        #expect(shown(machine) == [9, 8, 7])
        _ = machine.step(.snapshot(1, rows([9, 8, 7, 5]), isFromCache: false))
        #expect(shown(machine) == [9, 8, 7, 5], "4 to 2 are still to come")
        #expect(machine.step(.loadMore) == [.listen(2, after: position(5), limit: 4)])
    }

    /// Feed seed 8964: a waiting delete made a full page one row short, and the page was taken for
    /// the last.
    @Test(arguments: [[9, 7, 6], [9, 8, 7]])
    func `take no page for the last that a waiting write keeps a row out of`(left: [Int]) {
        var machine = Machine(pageSize: 4)
        _ = machine.step(.start)
        _ = machine.step(.snapshot(1, rows([9, 8, 7, 6]), isFromCache: false, named: 4))
        _ = machine.step(.snapshot(1, rows(left), isFromCache: false, named: 4))
        #expect(shown(machine) == left)
        #expect(machine.hasMore)
        #expect(machine.step(.loadMore) == [.listen(2, after: position(6), limit: 4)])
    }

    /// Feed seed 18330: the server had sent 8, 7 and 5. The device also knew 6 and had an own row
    /// that waited, so the page was full without 5.
    @Test func `take no full page for the last, however few rows the server has told of`() {
        var machine = Machine(pageSize: 4)
        _ = machine.step(.start)
        let own = PageRow(position(9), 9, isPending: true)
        _ = machine.step(
            .snapshot(1, [own] + rows([8, 7, 6]), isFromCache: false, named: 3))
        _ = machine.step(.snapshot(1, rows([9, 8, 7, 6]), isFromCache: false, named: 4))
        #expect(shown(machine) == [9, 8, 7, 6])
        #expect(machine.step(.loadMore) == [.listen(2, after: position(6), limit: 4)])
    }

    /// Feed seed 19196: the range above a row that was moved far down was taken for known.
    @Test func `know a page no further down than the server has told`() {
        var machine = Machine(pageSize: 4)
        _ = machine.step(.start)
        _ = machine.step(.snapshot(1, rows([9, 8, 7, 6]), isFromCache: false, named: 4))
        let moved = PageRow(position(1, "d7"), 7, isPending: true)
        _ = machine.step(
            .snapshot(1, rows([9, 8, 6]) + [moved], isFromCache: false, named: 4))
        #expect(shown(machine) == [9, 8, 6])
        _ = machine.step(.snapshot(1, rows([9, 8, 6, 5]), isFromCache: false, named: 4))
        #expect(machine.step(.loadMore) == [.listen(2, after: position(5), limit: 4)])
    }

    @Test func `show no hole when the head has moved on too far`() {
        var machine = opened()
        _ = machine.step(.snapshot(1, rows(down(150, to: 141)), isFromCache: false))
        #expect(shown(machine) == Array(down(150, to: 141)))
        #expect(machine.step(.loadMore) == [.listen(3, after: position(141), limit: 10)])
        _ = machine.step(.snapshot(3, rows(down(140, to: 131)), isFromCache: false))
        for id in 4...6 {
            _ = machine.step(.loadMore)
            let first = 170 - id * 10
            _ = machine.step(.snapshot(id, rows(down(first, to: first - 9)), isFromCache: false))
        }
        #expect(shown(machine) == Array(down(150, to: 101)))
        _ = machine.step(.loadMore)
        _ = machine.step(.snapshot(7, rows(down(100, to: 91)), isFromCache: false))
        #expect(shown(machine) == Array(down(150, to: 81)), "what was known below is shown again")
    }

    @Test(arguments: [true, false])
    func `show no hole below a row of the device's own`(isOffline: Bool) {
        var machine = opened()
        let own = PageRow(position(120), 120, isPending: true)
        _ = machine.step(.snapshot(1, [own] + rows(down(100, to: 92)), isFromCache: isOffline))
        #expect(shown(machine) == [120] + down(100, to: 81))
        // Ten other rows arrive, and the head has room for nine.
        _ = machine.step(.snapshot(1, rows([120] + down(110, to: 102)), isFromCache: false))
        #expect(shown(machine) == [120] + down(110, to: 102))
        #expect(machine.step(.loadMore) == [.listen(3, after: position(102), limit: 10)])
        _ = machine.step(.snapshot(3, rows(down(101, to: 92)), isFromCache: false))
        #expect(shown(machine) == [120] + down(110, to: 81))
    }

    @Test func `show a row that moves between two pages once`() {
        var machine = opened()
        let moved = PageRow(position(120, "d85"), 85)
        _ = machine.step(
            .snapshot(1, [moved] + rows(down(100, to: 92)), isFromCache: false))
        #expect(shown(machine) == [85] + down(100, to: 81).filter { $0 != 85 })
        _ = machine.step(
            .snapshot(2, rows(down(90, to: 80).filter { $0 != 85 }), isFromCache: false))
        #expect(shown(machine) == [85] + down(100, to: 80).filter { $0 != 85 })
    }

    @Test func `let go what is deleted, and fill up from below`() {
        var machine = opened()
        _ = machine.step(
            .snapshot(1, rows(down(100, to: 90).filter { $0 != 95 }), isFromCache: false))
        #expect(shown(machine) == down(100, to: 81).filter { $0 != 95 })
    }

    @Test func `are ready to try again after an error`() {
        var machine = opened()
        #expect(machine.step(.loadMore) == [.listen(3, after: position(81), limit: 10)])
        _ = machine.step(.failed(3, .invalidArgument("no")))
        #expect(machine.error?.code == .invalidArgument)
        #expect(!machine.isLoadingMore && machine.hasMore)
        #expect(shown(machine) == Array(down(100, to: 81)))
        #expect(machine.step(.loadMore) == [.listen(4, after: position(81), limit: 10)])
        #expect(machine.error == nil)
        _ = machine.step(.failed(1, .invalidArgument("no")))
        _ = machine.step(.failed(4, .invalidArgument("no")))
        #expect(machine.step(.loadMore) == [.listen(5, after: nil, limit: 10)])
    }

    @Test func `show what the device holds first, and only what is known then`() {
        var machine = Machine(pageSize: 10)
        _ = machine.step(.start)
        // The cache holds rows from last week, with holes between them.
        _ = machine.step(.snapshot(1, rows([50, 48, 45, 31]), isFromCache: true))
        #expect(shown(machine) == [50, 48, 45, 31])
        #expect(machine.isFromCache && machine.hasMore && !machine.isLoadingMore)
        _ = machine.step(.snapshot(1, rows(down(60, to: 51)), isFromCache: false))
        #expect(shown(machine) == Array(down(60, to: 51)))
        _ = machine.step(.loadMore)
        _ = machine.step(.snapshot(2, rows(down(50, to: 41)), isFromCache: false))
        #expect(shown(machine) == Array(down(60, to: 41)), "31 is not known to be the next")
    }

    @Test func `go on beyond 10,000 rows, in order and each once`() {
        var machine = PageMachine<Int>(pageSize: 500)
        _ = machine.step(.start)
        for id in 1...50 {
            let first = 100_000 - (id - 1) * 500
            _ = machine.step(
                .snapshot(id, rows(down(first, to: first - 499)), isFromCache: false))
            #expect(machine.hasMore)
            _ = machine.step(.loadMore)
        }
        #expect(machine.rows.count == 25_000)
        #expect(shown(machine) == Array(down(100_000, to: 75_001)))
    }

    @Test func `are bounded, in listeners and in rows`() {
        var machine = PageMachine<Int>(pageSize: 500, maxRows: 10_000)
        _ = machine.step(.start)
        var effects: [PageMachine<Int>.Effect] = []
        var stopped = 0
        for id in 1...40 {
            let first = 100_000 - (id - 1) * 500
            _ = machine.step(
                .snapshot(id, rows(down(first, to: first - 499)), isFromCache: false))
            effects = machine.step(.loadMore)
            stopped += effects.count { if case .stop = $0 { true } else { false } }
        }
        #expect(!machine.hasMore && effects.isEmpty)
        #expect(machine.rows.count == 10_000)
        #expect(stopped == 0, "twenty pages of 500 are all the rows there may be")
        var small = opened()
        for id in 3...30 {
            let ended = small.step(.loadMore).contains(.stop(id - 19))
            #expect(ended == (id > 20))
            let first = 110 - id * 10
            _ = small.step(.snapshot(id, rows(down(first, to: first - 9)), isFromCache: false))
        }
        #expect(shown(small) == Array(down(100, to: -199)))
    }
}
