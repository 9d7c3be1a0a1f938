import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// Budgets of an engine that is killed between a request and its answer.
struct BudgetKillTests {
    private let budget = ReadBudget(.all, readsPerDay: 3, .degradeToCache, notices: [30])
    private let noon = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    private func world(_ file: TemporaryFile, _ budget: ReadBudget? = nil) throws -> Harness {
        try Harness(cacheFile: file.path, readBudgets: [budget ?? self.budget])
    }

    private func ask(_ world: Harness, _ name: String) -> Int {
        let count = world.transport.calls.count
        _ = world.read(path(name), source: .server)
        return world.transport.calls.count - count
    }

    private func answer(_ world: Harness, _ name: String) {
        world.transport.calls.last!.reply(
            .batchGetDocuments(
                BatchGetResult(row: .found(doc(name, 10)), readTime: noon)))
        world.run()
    }

    private func state(_ world: Harness) throws -> ReadBudgetState {
        let told = Events<Result<[ReadBudgetState], SyncError>>()
        world.engine.readBudgetStates { told.record($0) }
        world.run()
        return try #require(try told.all[0].get().first)
    }

    @Test func `a request without an answer counts as spent after a kill`() throws {
        let file = TemporaryFile()
        var world: Harness? = try world(file)
        #expect(ask(world!, "rooms/a") == 1)
        answer(world!, "rooms/a")
        #expect(try state(world!).spent == 1 && state(world!).reserved == 0)
        #expect(ask(world!, "rooms/b") == 1)
        #expect(try state(world!).reserved == 1)
        // The call that waits would keep the engine and its file open.
        world!.engine.abandon()
        world = nil
        world = try self.world(file)
        #expect(ask(world!, "rooms/c") == 1)
        answer(world!, "rooms/c")
        let after = try state(world!)
        #expect(after.spent == 2, "the answer that was stored, and this one")
        #expect(after.reserved == 1, "the one whose answer never came")
        #expect(after.isUsedUp && ask(world!, "rooms/d") == 0)
        #expect(try world!.report().reads == 2, "reports count what was billed")
    }

    @Test func `the count of an answer is on disk with its document`() throws {
        let file = TemporaryFile()
        var world: Harness? = try world(file)
        for name in ["rooms/a", "rooms/b", "rooms/c"] {
            #expect(ask(world!, name) == 1)
            answer(world!, name)
        }
        world = nil
        world = try self.world(file)
        #expect(try world!.report().reads == 3, "no pause of ten seconds")
    }

    @Test func `a budget that warns costs no writes`() throws {
        let file = TemporaryFile()
        let world = try world(file, ReadBudget(.all, readsPerDay: 3, .warn))
        _ = ask(world, "rooms/a")
        #expect(try state(world).reserved == 0)
    }

    @Test func `a first answer releases what a listener had reserved`() throws {
        let world = try Harness(readBudgets: [ReadBudget(.all, readsPerDay: 50, .degradeToCache)])
        _ = world.listen(rooms())
        #expect(try state(world).reserved == ReadReservations.unknownSize)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(try state(world).reserved == 0 && state(world).spent == 1)
    }

    @Test func `a share that an earlier process reported is not reported again`() throws {
        let file = TemporaryFile()
        var notices = 0
        for _ in 0..<3 {
            let world = try world(file)
            let told = Events<ReadEvent>()
            let meter = world.engine.observeReads { told.record($0) }
            if ask(world, "rooms/a") == 1 { answer(world, "rooms/a") }
            notices += told.all.count { if case .budgetReached = $0 { true } else { false } }
            meter.cancel()
            world.engine.abandon()
        }
        #expect(notices == 1)
    }
}
