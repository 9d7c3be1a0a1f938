import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

struct ReadBudgetTests {
    private func reply(_ world: Harness, _ names: String...) {
        for name in names {
            world.transport.calls.last!.reply(
                .batchGetDocuments(
                    BatchGetResult(row: .found(doc(name, 10)), readTime: noon)), ends: false)
        }
        world.transport.calls.last!.end()
        world.run()
    }

    private let noon = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    /// Returns a world that has used its budget of one read.
    private func world(_ action: ReadBudget.Action, _ scope: ReadBudget.Scope = .all) throws
        -> Harness
    {
        let world = try Harness(readBudgets: [ReadBudget(scope, readsPerDay: 1, action)])
        _ = world.read(path("rooms/a"))
        reply(world, "rooms/a")
        return world
    }

    @Test func `a warning is told once a day, and nothing is held up`() throws {
        let world = try Harness(readBudgets: [ReadBudget(.all, readsPerDay: 1, .warn)])
        let told = Events<ReadEvent>()
        let meter = world.engine.observeReads { told.record($0) }
        for _ in 0..<3 {
            _ = world.read(path("rooms/a"), source: .server)
            reply(world, "rooms/a")
        }
        let warnings = told.all.filter { if case .budgetSpent = $0 { true } else { false } }
        #expect(warnings.count == 1)
        #expect(try world.report().reads == 3)
        meter.cancel()
    }

    @Test func `a spent budget makes the cache answer, with the reason`() throws {
        let world = try world(.degradeToCache)
        let budget = ReadBudget(.all, readsPerDay: 1, .degradeToCache)
        let read = try world.read(path("rooms/a")).all[0].get()
        #expect(read.ids == ["a"])
        guard case .stale(_, reason: .overBudget(budget)) = read.freshness else {
            Issue.record("\(read.freshness)")
            return
        }
        #expect(world.transport.calls.count == 1)
        #expect(
            world.read(path("rooms/a"), source: .server).all == [.failure(.overBudget(budget))],
            "what only the server can answer is refused")
        let listener = world.listen(rooms(), metadata: true)
        let shown = try #require(try listener.take().last?.get())
        #expect(shown.ids == ["a"] && shown.isFromCache)
        #expect(shown.staleReason == .overBudget(budget))
        #expect(world.transport.listens.isEmpty)
    }

    @Test func `a new day, or a larger budget, lets a listener go on`() throws {
        for isNewDay in [true, false] {
            let world = try world(.degradeToCache)
            let listener = world.listen(rooms(), metadata: true)
            #expect(world.transport.listens.isEmpty)
            if isNewDay {
                world.scheduler.advance(by: BillingDay(noon).end.duration(since: noon))
            } else {
                world.engine.setReadBudgets([])
                world.run()
            }
            world.answer(world.added[0].id, [doc("rooms/a", 10), doc("rooms/b", 11)], at: 20)
            let shown = try #require(try listener.take().last?.get())
            #expect(shown.ids == ["a", "b"] && !shown.isFromCache)
        }
    }

    @Test func `a spent budget refuses reads and listeners`() throws {
        let world = try world(.refuse)
        let budget = ReadBudget(.all, readsPerDay: 1, .refuse)
        #expect(world.read(path("rooms/a")).all == [.failure(.overBudget(budget))])
        #expect(world.listen(rooms()).take() == [.failure(.overBudget(budget))])
        #expect(try world.read(path("rooms/a"), source: .cache).all[0].get().ids == ["a"])
    }

    @Test func `a listener is stopped by what it was sent`() throws {
        for action in [ReadBudget.Action.degradeToCache, .refuse] {
            let budget = ReadBudget(.all, readsPerDay: 2, action)
            let world = try Harness(readBudgets: [budget])
            let listener = world.listen(rooms(), metadata: true)
            let id = world.added[0].id
            world.answer(id, [doc("rooms/a", 10)], at: 20)
            #expect(world.removed.isEmpty)
            _ = listener.take()
            world.push(.documentChange(DocumentChange(doc("rooms/b", 30), targetIDs: [id])))
            world.snapshot(30)
            #expect(world.removed == [id])
            let events = listener.take()
            if action == .refuse {
                #expect(events.last == .failure(.overBudget(budget)))
            } else {
                let shown = try #require(try events.last?.get())
                #expect(shown.ids == ["a", "b"] && shown.staleReason == .overBudget(budget))
            }
        }
    }

    @Test func `writes are never held up`() throws {
        let world = try world(.refuse)
        let events = world.write(set("rooms/b", [:]))
        world.shakeHands()
        world.acknowledge(at: 50)
        #expect(events.all.last == .acknowledged(commitTime: at(50)))
        let committed = Events<Result<Timestamp, SyncError>>()
        world.engine.session.lookUp([path("rooms/a")]) { _ in }
        world.run()
        #expect(world.transport.calls.count == 2, "a transaction's read is part of a write")
        world.engine.session.commit([set("rooms/c", [:])]) {
            committed.record($0.mapError(\.error))
        }
        world.run()
        #expect(world.transport.calls.count == 3)
    }

    @Test func `a budget is of its label or screen`() throws {
        let world = try world(.refuse, .label("chat"))
        #expect(world.read(path("rooms/a")).all.isEmpty, "the reads were of another label")
        #expect(world.transport.calls.count == 2)
        for number in 0..<2 {
            let told = Events<Result<ReadResult, SyncError>>()
            world.engine.read(
                document: path("rooms/a"), source: .server, deadline: nil,
                tag: ReadTag(label: "chat")
            ) { told.record($0) }
            world.run()
            if number == 0 { reply(world, "rooms/a") }
            #expect(told.all.count == 1)
        }
        #expect(world.transport.calls.count == 3)
    }
}
