import Testing
import Tidemark

@testable import TidemarkApp

/// Tests how the machine alone comes live: by its listeners, and after a long absence by a count
/// first.
struct `A feed machine that comes live` {
    typealias Machine = FeedMachine<String>

    private let now = DeviceTime(wall: Timestamp(seconds: 1_000, nanoseconds: 0), elapsed: .zero)
    private let fault = FirestoreError(.unavailable, "no network")

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func plans(_ effects: [Machine.Effect]) -> [ReadPlan] {
        effects.compactMap { if case .fetch(let fetch) = $0 { fetch.plan } else { nil } }
    }

    private func marksTold(_ number: Int, at readTime: Timestamp) -> Machine.Event {
        var shared = SharedMarks()
        shared.action = time(900)
        return .heard(
            FeedHeard(
                number: number, changed: [], rows: [], readTime: readTime, isFull: false,
                mark: shared))
    }

    /// Returns an opened feed that holds everything as of 900, and its effects when it comes live.
    ///
    /// - Parameters:
    ///   - limit: The minimum number of items that the feed holds.
    ///   - away: The duration of the absence, by the device's clock.
    private func comingLive(
        sharesMarks: Bool = false, limit: Int? = nil, away: Duration = .zero, calls: Bool = true
    ) throws -> (machine: Machine, effects: [Machine.Effect]) {
        var progress = FeedProgress(overlap: .seconds(300))
        let rules = FeedRules(way: .changeTime(audited: false), pageSize: 2, limit: limit)
        let plan = try #require(
            ReadPlanner.next(progress, reach: SyncReach(), action: nil, rules: rules))
        _ = progress.receive([], of: plan, readTime: time(900), rules: rules)
        progress.note(now: now.wall.advanced(by: .zero - away))
        var machine = Machine(FeedSettings(rules: rules, window: 1, sharesMarks: sharesMarks))
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), progress), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        var effects = machine.step(calls ? .comeLive(2) : .live(true), now: now)
        effects += machine.step(.indexesDeclared, now: now)
        return (machine, effects)
    }

    private func told(
        _ machine: Machine, at readTime: Timestamp?, _ rows: [FeedBookRow] = [],
        isFull: Bool = false
    ) throws -> Machine.Event {
        .heard(
            FeedHeard(
                number: try #require(machine.live.listen?.number), changed: rows.map(\.path),
                rows: rows, readTime: readTime, isFull: isFull, isPage: isFull, mark: nil))
    }

    private func waits(_ effects: [Machine.Effect]) -> [Int] {
        effects.compactMap { if case .awaitListener(let number) = $0 { number } else { nil } }
    }

    private func isSynced(_ effects: [Machine.Effect]) -> Bool {
        effects.contains {
            if case .finish(2, .synced(let sync)) = $0 { sync.reads == 0 } else { false }
        }
    }

    @Test func `comes live by its listener alone, in one round trip`() throws {
        var (machine, effects) = try comingLive()
        #expect(plans(effects).isEmpty && waits(effects).count == 1)
        #expect(!isSynced(machine.step(try told(machine, at: nil), now: now)), "from disk")
        effects = machine.step(try told(machine, at: time(950)), now: now)
        #expect(plans(effects).isEmpty && isSynced(effects))
        #expect(machine.shown.phase == .fresh(readTime: time(950)))
    }

    @Test func `comes live by pages behind a listener that is full`() throws {
        var (machine, effects) = try comingLive()
        let rows = [Int64(910), 920].map { second in
            FeedBookRow(
                path: DocumentPath(unchecked: "c/\(second)"), itemTime: time(second),
                changeTime: time(second), updateTime: time(second))
        }
        effects = machine.step(try told(machine, at: time(950), rows, isFull: true), now: now)
        guard case .changes(_, let after)? = plans(effects).first?.question else {
            Issue.record("no page of changes is asked for")
            return
        }
        #expect(after?.path == rows[1].path && !isSynced(effects))
    }

    @Test func `coming live waits for both listeners, in any order`() throws {
        for marksFirst in [true, false] {
            var (machine, effects) = try comingLive(sharesMarks: true)
            #expect(plans(effects).isEmpty && !effects.contains(.readShared))
            let marks = marksTold(try #require(machine.live.marks?.number), at: time(940))
            let changes = try told(machine, at: time(950))
            effects = machine.step(marksFirst ? marks : changes, now: now)
            #expect(plans(effects).isEmpty && !isSynced(effects))
            effects = machine.step(marksFirst ? changes : marks, now: now)
            #expect(plans(effects).isEmpty && !effects.contains(.readShared))
            // The machine stores the mark and removes the items that the mark hides.
            effects += machine.step(.changesRead([:]), now: now)
            effects += machine.step(
                .itemsRead([], hasMore: false, rowsScanned: 0), now: now)
            #expect(isSynced(effects))
        }
    }

    @Test func `coming live fails as a read does, and reads where it listens no more`() throws {
        let (machine, effects) = try comingLive()
        let failed = Machine.Effect.finish(2, .failed(fault))
        var silent = machine
        let wait = try #require(waits(effects).first)
        #expect(silent.step(.listenerOverdue(wait, fault), now: now).contains(failed))
        #expect(silent.live.listen != nil, "it goes on listening")
        var refused = machine
        let number = try #require(machine.live.listen?.number)
        #expect(refused.step(.listenFailed(number, fault), now: now).contains(failed))
        var closed = machine
        #expect(plans(closed.step(.live(false), now: now)).count == 1)
    }

    // MARK: After a long absence

    private func counts(_ effects: [Machine.Effect]) -> [Int] {
        effects.compactMap { if case .countChanges(_, let most) = $0 { most } else { nil } }
    }

    private func listens(_ effects: [Machine.Effect]) -> [FeedListen.Question] {
        effects.compactMap { if case .listen(let listen) = $0 { listen.question } else { nil } }
    }

    private func counted(_ count: Int) -> Machine.Event {
        .changesCounted(CountedChanges(since: time(600), count: count), readTime: time(940))
    }

    @Test(arguments: [true, false])
    func `counts after three days, and leaves few changes to its listener`(calls: Bool) throws {
        var (machine, effects) = try comingLive(limit: 2, away: .seconds(3 * 86_400), calls: calls)
        #expect(counts(effects) == [2] && listens(effects).isEmpty && plans(effects).isEmpty)
        effects = machine.step(counted(1), now: now)
        #expect(listens(effects) == [.changes(since: time(600))] && plans(effects).isEmpty)
        effects = machine.step(try told(machine, at: time(950)), now: now)
        #expect(machine.shown.phase == .fresh(readTime: time(950)) && plans(effects).isEmpty)
    }

    @Test(arguments: [true, false])
    func `reads its newest items where as many changed as it holds`(calls: Bool) throws {
        var (machine, effects) = try comingLive(limit: 2, away: .seconds(3 * 86_400), calls: calls)
        effects = machine.step(counted(2), now: now)
        let plan = try #require(plans(effects).first)
        #expect(listens(effects).isEmpty && plan.beginsAnew && plan.pageSize == 2)
    }

    @Test(arguments: [
        (Int?.none, Duration.seconds(30 * 86_400)), (2, .seconds(3 * 86_400 - 1)),
        (2, .seconds(-86_400)),
    ])
    func `counts nothing without a limit, and after a shorter absence`(
        limit: Int?, away: Duration
    ) throws {
        let (_, effects) = try comingLive(limit: limit, away: away)
        #expect(counts(effects).isEmpty && listens(effects).count == 1)
    }

    @Test func `reads the changes of a server that refuses to count`() throws {
        var (machine, effects) = try comingLive(limit: 2, away: .seconds(3 * 86_400))
        var failing = machine
        let refused = FirestoreError(.permissionDenied, "no list without a limit")
        effects = machine.step(.failed(.changeCount, refused), now: now)
        #expect(plans(effects).map(\.kind) == [.delta])
        effects = failing.step(.failed(.changeCount, fault), now: now)
        #expect(effects.contains(.finish(2, .failed(fault))))
    }
}
