import Testing
import Tidemark

@testable import TidemarkApp

/// Tests what is stored if a listener reports changes while a page is loading.
struct `A feed's progress during a page` {
    typealias Machine = FeedMachine<String>

    private let now = DeviceTime(wall: Timestamp(seconds: 1_000, nanoseconds: 0), elapsed: .zero)
    private let rules = FeedRules(way: .changeTime(audited: false), pageSize: 2)

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    /// Returns a listening feed that holds everything as of 900, and the page that a sync requests.
    private func loading() throws -> (machine: Machine, fetch: FeedFetch) {
        var progress = FeedProgress(overlap: .seconds(300))
        let plan = try #require(
            ReadPlanner.next(progress, reach: SyncReach(), action: nil, rules: rules))
        _ = progress.receive([], of: plan, readTime: time(900), rules: rules)
        var machine = Machine(FeedSettings(rules: rules, window: 1))
        _ = machine.step(.live(true), now: now)
        _ = machine.step(.open(1), now: now)
        _ = machine.step(.loaded(Marks(), progress), now: now)
        _ = machine.step(.itemsRead([], hasMore: false, rowsScanned: 0), now: now)
        _ = machine.step(.sync(2), now: now)
        guard case .fetch(let fetch)? = machine.step(.indexesDeclared, now: now).last else {
            throw NoPage()
        }
        return (machine, fetch)
    }

    private struct NoPage: Error {}

    /// Returns a snapshot with a single row, which changed at 940.
    private func heard(_ machine: Machine) throws -> Machine.Event {
        let row = FeedBookRow(
            path: DocumentPath(unchecked: "c/new"), itemTime: time(940), changeTime: time(940),
            updateTime: time(940))
        return .heard(
            FeedHeard(
                number: try #require(machine.live.listen?.number), changed: [row.path], rows: [row],
                readTime: time(950), isFull: false, mark: nil))
    }

    /// Returns the page's answer, which the server read at 930, before the listener's row.
    private func answer(_ fetch: FeedFetch) -> Machine.Event {
        var progress = fetch.progress
        _ = progress.receive([], of: fetch.plan, readTime: time(930), rules: rules)
        var page = FeedPage(progress: progress, readTime: time(930), rows: 0, changed: [])
        page.plan = fetch.plan
        return .fetched(page, stored: [])
    }

    private func saved(_ effects: [Machine.Effect]) -> [FeedProgress] {
        effects.compactMap { if case .saveProgress(let progress) = $0 { progress } else { nil } }
    }

    /// The page stores its progress with its documents. The snapshot's progress, stored behind the
    /// page, would remove the page from the records, and the app would pay for the page again.
    @Test func `is stored with the page and the listener's snapshot, after both`() throws {
        var (machine, fetch) = try loading()
        let during = machine.step(try heard(machine), now: now)
        #expect(saved(during).isEmpty, "the page is still loading")
        let after = machine.step(answer(fetch), now: now)
        let stored = try #require(saved(after).last)
        #expect(stored == machine.progress)
        #expect(stored.cursor.readTime == time(950))
        #expect(stored.cursor.seen.keys.contains(DocumentPath(unchecked: "c/new")))
        #expect(stored.live?.heardAt == time(950))
    }

    @Test func `is stored after the page if the feed stops listening meanwhile`() throws {
        var (machine, fetch) = try loading()
        #expect(saved(machine.step(.live(false), now: now)).isEmpty)
        #expect(saved(machine.step(answer(fetch), now: now)) == [machine.progress])
    }

    @Test func `is stored after a page that failed`() throws {
        var (machine, _) = try loading()
        _ = machine.step(try heard(machine), now: now)
        let error = FirestoreError(.unavailable, "no network")
        let effects = machine.step(.failed(.page, error), now: now)
        #expect(saved(effects) == [machine.progress])
        #expect(machine.progress.cursor.readTime == time(950))
    }

    @Test func `of a listener that failed meanwhile is not taken for a listener's`() throws {
        var (machine, fetch) = try loading()
        let number = try #require(machine.live.listen?.number)
        _ = machine.step(try heard(machine), now: now)
        let error = FirestoreError(.resourceExhausted, "too many")
        _ = machine.step(.listenFailed(number, error), now: now)
        _ = machine.step(answer(fetch), now: now)
        #expect(machine.progress.live == nil)
    }
}
