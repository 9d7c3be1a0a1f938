import Testing
import Tidemark

@testable import TidemarkApp

/// Tests the machine alone, without an engine, a clock or a task.
struct `The feed machine` {
    typealias Machine = FeedMachine<String>

    private let now = DeviceTime(wall: Timestamp(seconds: 1_000, nanoseconds: 0), elapsed: .zero)
    private let fault = FirestoreError(.unavailable, "no network")

    private func machine(window: Int = 3) -> Machine {
        Machine(
            FeedSettings(
                rules: FeedRules(way: .changeTime(audited: false), pageSize: 2), window: window))
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func row(_ id: String, _ seconds: Int64) -> Machine.Row {
        FeedRow(
            PagePosition(
                value: .timestamp(time(seconds)), path: DocumentPath(unchecked: "c/" + id)),
            id, hasPendingWrites: false)
    }

    /// Returns an opened machine with these rows from disk and no other rows.
    private func opened(_ rows: [Machine.Row]) -> Machine {
        var machine = machine()
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        _ = machine.step(.itemsRead(rows, hasMore: false, rowsScanned: rows.count), now: now)
        return machine
    }

    @Test func `opens from disk, and asks no server`() {
        var machine = machine()
        #expect(machine.step(.open(1), now: now) == [.load])
        #expect(
            machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
                == [.readItems(below: nil, count: 3, from: .lowest)])
        let rows = [row("b", 9), row("a", 8)]
        #expect(
            machine.step(.itemsRead(rows, hasMore: false, rowsScanned: 2), now: now)
                == [.publish, .finish(1, .opened)])
        #expect(machine.shown.rows.map(\.content) == ["b", "a"])
        #expect(machine.shown.phase == .stale(age: nil))
    }

    @Test func `shows its first content before it has counted below it`() {
        var machine = machine(window: 1)
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        #expect(
            machine.step(.itemsRead([row("b", 9)], hasMore: true, rowsScanned: 2), now: now)
                == [.count(from: .lowest), .publish])
        #expect(machine.shown.unreadCount == 1)
        #expect(machine.step(.counted(7), now: now) == [.publish, .finish(1, .opened)])
        #expect(machine.shown.unreadCount == 7)
    }

    /// A launch continues when the rows are there, and changes of the listener do not wait for a
    /// count.
    @Test func `opens its window before it has counted below it, and reads rows meanwhile`() {
        var machine = machine(window: 1)
        _ = machine.step(.openWindow(1), now: now)
        _ = machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        #expect(
            machine.step(.itemsRead([row("b", 9)], hasMore: true, rowsScanned: 2), now: now)
                == [.count(from: .lowest), .publish, .finish(1, .opened)])
        _ = machine.step(.live(true), now: now)
        #expect(machine.step(.written, now: now).contains(.readChanges([])))
        let count = Machine.Effect.count(from: .lowest)
        var effects = machine.step(.changesRead([:]), now: now)
        effects += machine.step(.itemsRead([], hasMore: true, rowsScanned: 0), now: now)
        #expect(!effects.contains(count), "one count at a time")
        // The count from before the change is out of date, so the machine counts again.
        #expect(machine.step(.counted(7), now: now).contains(count))
        #expect(machine.step(.counted(8), now: now).contains(.publish))
        #expect(machine.shown.unreadCount == 8)
    }

    /// Feed seed 17979: the feed was fresh but showed an old item from disk that no page contained.
    @Test func `asks again for what a mark hid that was ahead of the server's time`() throws {
        let rules = FeedRules(way: .itemTime, pageSize: 2)
        var machine = Machine(FeedSettings(rules: rules, window: 3))
        var marks = Marks()
        marks.move(.action, to: time(5_000), serverNow: nil)
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(marks, FeedProgress(overlap: .seconds(300))), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        _ = machine.step(.sync(2), now: now)
        let plan = try #require(plans(machine.step(.indexesDeclared, now: now)).first)
        #expect(plan.floor == time(5_000))
        var progress = machine.progress
        _ = progress.receive([], of: plan, readTime: time(1_000), rules: rules)
        var page = FeedPage(progress: progress, readTime: time(1_000), rows: 0, changed: [])
        page.plan = plan
        let next = plans(machine.step(.fetched(page, stored: []), now: now))
        #expect(next.map(\.floor) == [time(1_000)])
    }

    /// Feed seed 7960: the answer was older than the device's own write, and contained that write
    /// alone.
    @Test func `reads the shared marks once more after a write of its own`() {
        var machine = Machine(
            FeedSettings(
                rules: FeedRules(way: .itemTime, pageSize: 2), window: 3, sharesMarks: true))
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        _ = machine.step(.sync(2), now: now)
        #expect(machine.step(.indexesDeclared, now: now).contains(.readShared))
        var shared = SharedMarks()
        shared.isOwnAlone = true
        let answer = Machine.Event.sharedRead(shared, readTime: time(1_000))
        let again = machine.step(answer, now: now)
        #expect(again.contains(.readShared) && plans(again).isEmpty)
        #expect(plans(machine.step(answer, now: now)).count == 1, "and no more than once")
    }

    /// Returns a listening machine with shared marks, which waits for the marks' listener first.
    private func listening() throws -> (machine: Machine, marks: Int, wait: Int) {
        var machine = Machine(
            FeedSettings(
                rules: FeedRules(way: .changeTime(audited: false), pageSize: 2), window: 3,
                sharesMarks: true))
        _ = machine.step(.live(true), now: now)
        var effects = machine.step(
            .loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        effects += machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        effects += machine.step(.indexesDeclared, now: now)
        #expect(!effects.contains(.readShared) && plans(effects).isEmpty)
        let marks = effects.compactMap {
            if case .listen(let listen) = $0, listen.question == .marks {
                listen.number
            } else {
                nil
            }
        }
        let waits = effects.compactMap {
            if case .awaitListener(let number) = $0 { number } else { nil }
        }
        return (machine, try #require(marks.first), try #require(waits.first))
    }

    private func heard(_ number: Int, at readTime: Timestamp?, isOwnAlone: Bool = false)
        -> Machine.Event
    {
        var heard = FeedHeard(
            number: number, changed: [], rows: [], readTime: readTime, isFull: false)
        var shared = SharedMarks()
        shared.action = time(900)
        shared.isOwnAlone = isOwnAlone
        heard.mark = shared
        return .heard(heard)
    }

    @Test func `asks the marks' listener before its first page, and reads no mark beside it`()
        throws
    {
        var (machine, marks, wait) = try listening()
        #expect(plans(machine.step(heard(marks, at: nil), now: now)).isEmpty, "from disk")
        let effects = machine.step(heard(marks, at: time(1_000)), now: now)
        #expect(plans(effects).map(\.floor) == [time(900)])
        #expect(effects.contains(.unlisten(wait)) && !effects.contains(.readShared))
        #expect(machine.step(.listenerOverdue(wait, fault), now: now).isEmpty, "it comes too late")
    }

    @Test func `reads the marks where their listener does not notify them`() throws {
        let (machine, marks, _) = try listening()
        var failed = machine
        #expect(
            failed.step(.listenFailed(marks, fault), now: now).contains(.readShared), "it failed")
        var shared = SharedMarks()
        shared.isOwnAlone = true
        let answer = Machine.Event.sharedRead(shared, readTime: time(1_000))
        #expect(
            failed.step(answer, now: now).contains(.readShared), "once more after an own write")
        var own = machine
        #expect(
            own.step(heard(marks, at: time(1_000), isOwnAlone: true), now: now)
                .contains(.readShared), "it told what this device wrote")
        var closed = machine
        #expect(closed.step(.live(false), now: now).contains(.readShared), "it is no more")
    }

    @Test func `fails as a read does when the marks' listener is silent`() throws {
        var (machine, _, wait) = try listening()
        let effects = machine.step(.listenerOverdue(wait, fault), now: now)
        #expect(machine.shown.phase == .failed(fault))
        #expect(effects.contains(.wait(.seconds(1))), "it tries again")
        let again = machine.step(.waited, now: now)
        #expect(
            again.contains { if case .awaitListener(let next) = $0 { next != wait } else { false } }
        )
    }

    @Test func `reads the marks in a sync that an app asked for, also where it listens`() {
        var machine = Machine(
            FeedSettings(
                rules: FeedRules(way: .itemTime, pageSize: 2), window: 3, sharesMarks: true))
        _ = machine.step(.live(true), now: now)
        _ = machine.step(.sync(7), now: now)
        _ = machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        #expect(machine.step(.indexesDeclared, now: now).contains(.readShared))
    }

    private func plans(_ effects: [Machine.Effect]) -> [ReadPlan] {
        effects.compactMap { if case .fetch(let fetch) = $0 { fetch.plan } else { nil } }
    }

    @Test func `makes indexes before the first page, and reads disk and server side by side`()
        throws
    {
        var machine = machine()
        #expect(machine.step(.sync(1), now: now) == [.load])
        let begun = machine.step(
            .loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        #expect(begun == [.declareIndexes, .readItems(below: nil, count: 3, from: .lowest)])
        guard case .fetch(let fetch)? = machine.step(.indexesDeclared, now: now).last else {
            Issue.record("no page was asked for")
            return
        }
        #expect(fetch.plan.since == nil)
    }

    @Test func `a sync that fails moves nothing, and the next one asks the same`() {
        var machine = opened([row("a", 8)])
        let before = machine.progress
        _ = machine.step(.sync(2), now: now)
        let first = machine.step(.indexesDeclared, now: now)
        #expect(
            machine.step(.failed(.page, fault), now: now)
                == [.finish(2, .failed(fault)), .publish])
        #expect(machine.shown.phase == .failed(fault))
        #expect(machine.progress == before)
        let second = machine.step(.sync(3), now: now)
        #expect(second.contains { first.contains($0) })
        #expect(machine.shown.phase == .stale(age: nil))
    }

    @Test func `calls that come while a sync runs share it`() {
        var machine = opened([])
        _ = machine.step(.sync(2), now: now)
        #expect(machine.step(.sync(3), now: now).isEmpty)
        _ = machine.step(.indexesDeclared, now: now)
        let end = machine.step(.failed(.page, fault), now: now)
        #expect(end.contains(.finish(2, .failed(fault))))
        #expect(end.contains(.finish(3, .failed(fault))))
    }

    @Test func `a mark is shown at once, and has moved when it is stored`() {
        var machine = opened([row("b", 9), row("a", 8)])
        let moved = machine.step(.move(.action, to: .time(time(8)), 2), now: now)
        #expect(moved.contains(.save(machine.marks, 2)) && moved.last == .publish)
        #expect(machine.shown.rows.map(\.content) == ["b"])
        #expect(
            machine.step(.marksSaved(2), now: now)
                == [.finish(2, .moved(.moved(to: time(8))))])
        #expect(
            machine.step(.move(.action, to: .time(time(7)), 3), now: now)
                == [
                    .notify(.moved(.action, .ignored(at: time(8)))),
                    .finish(3, .moved(.ignored(at: time(8)))),
                ])
        #expect(machine.counters.ignored == 1)
        let reset = machine.step(.move(.action, to: .milliseconds(-1), 4), now: now)
        #expect(reset.contains(.readItems(below: nil, count: 3, from: .lowest)))
    }

    @Test func `a mark that could not be stored is stored with the next sync`() {
        var machine = opened([row("b", 9), row("a", 8)])
        _ = machine.step(.move(.action, to: .time(time(8)), 2), now: now)
        #expect(
            machine.step(.failed(.marks(2), fault), now: now) == [.finish(2, .failed(fault))])
        #expect(machine.step(.sync(3), now: now).contains(.save(machine.marks, nil)))
        _ = machine.step(.failed(.marks(nil), fault), now: now)
        _ = machine.step(.failed(.indexes, fault), now: now)
        #expect(machine.step(.sync(4), now: now).contains(.save(machine.marks, nil)))
        _ = machine.step(.marksSaved(nil), now: now)
        _ = machine.step(.failed(.indexes, fault), now: now)
        #expect(!machine.step(.sync(5), now: now).contains(.save(machine.marks, nil)))
    }

    @Test(arguments: [FeedRules.Way.itemTime, .audit])
    func `a mark ahead of all that the server ever told is held back, also after a start`(
        way: FeedRules.Way
    ) {
        let rules = FeedRules(way: way, pageSize: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        let plan = ReadPlanner.next(progress, reach: SyncReach(), action: nil, rules: rules)!
        _ = progress.receive([], of: plan, readTime: time(900), rules: rules)
        var machine = Machine(FeedSettings(rules: rules, window: 3))
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), progress), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        _ = machine.step(.move(.action, to: .time(time(90_000)), 2), now: now)
        #expect(machine.marks.action == time(900))
    }

    /// The server's time was 900 when the device's clock showed 1,000. A minute has passed since
    /// then.
    @Test(arguments: [86_400, -86_400, 0])
    func `a clock that is turned while the app runs changes no mark and no age`(turned: Int64) {
        var machine = opened([row("a", 8)])
        _ = machine.step(.sync(2), now: now)
        guard case .fetch(let fetch)? = machine.step(.indexesDeclared, now: now).last else {
            Issue.record("no page is asked for")
            return
        }
        let page = FeedPage(
            progress: progress(of: fetch.plan), readTime: time(900), rows: 0, changed: [])
        _ = machine.step(.fetched(page, stored: []), now: now)
        let later = DeviceTime(wall: time(1_060 + turned), elapsed: .seconds(60))
        _ = machine.step(.move(.consumption, to: .time(time(90_000)), 3), now: later)
        #expect(machine.marks.consumption == time(960))
        _ = machine.step(.failed(.page, fault), now: later)
        _ = machine.step(.changesRead([:]), now: later)
        _ = machine.step(.open(4), now: later)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: later)
        #expect(machine.shown.phase == .stale(age: .seconds(60)))
    }

    private func progress(of plan: ReadPlan) -> FeedProgress {
        var progress = FeedProgress(overlap: .seconds(300))
        _ = progress.receive(
            [], of: plan, readTime: time(900), rules: machine().settings.rules)
        return progress
    }

    /// The answer's rows are still being read from disk, so the shown rows are complete as of the
    /// previous answer.
    @Test func `what listens is fresh as of an answer once it shows the answer's rows`() throws {
        var progress = FeedProgress(overlap: .seconds(300))
        let plan = try #require(
            ReadPlanner.next(
                progress, reach: SyncReach(), action: nil, rules: machine().settings.rules))
        _ = progress.receive([], of: plan, readTime: time(900), rules: machine().settings.rules)
        var machine = machine()
        _ = machine.step(.live(true), now: now)
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), progress), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        let number = try #require(machine.live.listen?.number)
        for second in [Int64(950), 960] {
            let before = machine.shown.phase
            let heard = FeedHeard(
                number: number, changed: [DocumentPath(unchecked: "c/a")], rows: [],
                readTime: time(second), isFull: false, mark: nil)
            let effects = machine.step(.heard(heard), now: now)
            #expect(effects.contains(.readChanges([DocumentPath(unchecked: "c/a")])))
            #expect(!effects.contains(.publish) && machine.shown.phase == before)
            _ = machine.step(.changesRead([:]), now: now)
            #expect(machine.shown.phase == .fresh(readTime: time(second)))
        }
    }

    /// The rows of a full listener can differ from the server's, unless `isPage` is true. Taken for
    /// a page, they would end behind rows that were never read.
    @Test(arguments: [true, false])
    func `a full listener is the first page where it shows what the server had`(isPage: Bool) throws
    {
        var progress = FeedProgress(overlap: .seconds(300))
        let rules = machine().settings.rules
        let full = try #require(
            ReadPlanner.next(progress, reach: SyncReach(), action: nil, rules: rules))
        _ = progress.receive([], of: full, readTime: time(900), rules: rules)
        var machine = machine()
        _ = machine.step(.live(true), now: now)
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), progress), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        let rows = [Int64(910), 920].map { second in
            FeedBookRow(
                path: DocumentPath(unchecked: "c/\(second)"), itemTime: time(second),
                changeTime: time(second), updateTime: time(second))
        }
        let heard = FeedHeard(
            number: try #require(machine.live.listen?.number), changed: rows.map(\.path),
            rows: rows, readTime: time(950), isFull: true, isPage: isPage, mark: nil)
        _ = machine.step(.heard(heard), now: now)
        guard case .fetch(let fetch)? = machine.step(.indexesDeclared, now: now).last,
            case .changes(let since, let after) = fetch.plan.question
        else {
            Issue.record("no page of changes is asked for")
            return
        }
        #expect(since == time(600))
        #expect(after?.path == (isPage ? rows[1].path : nil))
        #expect(after?.changeTime == (isPage ? time(920) : nil))
    }

    /// A count at a later time would include items that the device does not hold.
    @Test func `what is held is counted as of the last read of changes`() throws {
        let rules = FeedRules(way: .changeTime(audited: true), pageSize: 2)
        var progress = FeedProgress(overlap: .seconds(300))
        let full = try #require(
            ReadPlanner.next(progress, reach: SyncReach(), action: nil, rules: rules))
        _ = progress.receive([], of: full, readTime: time(900), rules: rules)
        var machine = Machine(FeedSettings(rules: rules, window: 3))
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), progress), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        _ = machine.step(.sync(2), now: now)
        guard case .fetch(let fetch)? = machine.step(.indexesDeclared, now: now).last else {
            Issue.record("no page is asked for")
            return
        }
        _ = progress.receive([], of: fetch.plan, readTime: time(950), rules: rules)
        let page = FeedPage(progress: progress, readTime: time(950), rows: 0, changed: [])
        let everything = CoveragePosition.lowest..<CoveragePosition.highest
        #expect(
            machine.step(.fetched(page, stored: []), now: now)
                .contains(.compare(everything, expected: nil, at: time(950))))
    }

    @Test func `a read that a reset overtook is made again`() {
        var machine = machine()
        _ = machine.step(.open(1), now: now)
        var marks = Marks()
        marks.move(.action, to: time(5), serverNow: nil)
        _ = machine.step(.loaded(marks, FeedProgress(overlap: .seconds(300))), now: now)
        _ = machine.step(.move(.action, to: .milliseconds(-1), 2), now: now)
        #expect(
            machine.step(.itemsRead([row("b", 9)], hasMore: false, rowsScanned: 1), now: now)
                == [.readItems(below: nil, count: 3, from: .lowest)])
    }

    @Test func `an item that was cleared while it was read is not shown`() {
        var machine = machine()
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), FeedProgress(overlap: .seconds(300))), now: now)
        _ = machine.step(.move(.action, to: .time(time(8)), 2), now: now)
        _ = machine.step(
            .itemsRead([row("b", 9), row("a", 8)], hasMore: false, rowsScanned: 2), now: now)
        #expect(machine.shown.rows.map(\.content) == ["b"])
    }

    @Test func `the disk's failure ends what waits for it, and the next call begins anew`() {
        var machine = machine()
        _ = machine.step(.open(1), now: now)
        #expect(
            machine.step(.failed(.load, fault), now: now).contains(.finish(1, .failed(fault))))
        #expect(machine.step(.open(2), now: now) == [.load])
    }
}
