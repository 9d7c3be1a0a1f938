import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// A server that does not accept a resume token: the result is asked for from nothing, once.
struct RefusedTokenTests {
    private func world() throws -> (Harness, Listener) {
        let world = try Harness()
        let listener = world.listen(rooms())
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20, token: [7])
        world.stream.end(RPCStatus(.unavailable, "gone"))
        world.run()
        world.scheduler.advance(by: .seconds(2))
        #expect(world.added[0].resume == .token([7]))
        _ = listener.take()
        return (world, listener)
    }

    private func refuse(_ world: Harness, _ status: RPCStatus) {
        let id = world.added[world.added.count - 1].id
        world.push(.targetChange(TargetChange(.remove, targetIDs: [id], cause: status)))
    }

    @Test func `the rows are asked for from nothing`() throws {
        let (world, listener) = try world()
        refuse(world, .invalidArgument("bad resume token"))
        try #require(world.added.count == 2)
        #expect(world.added[1].resume == .fromScratch && world.added[1].expectedCount == nil)
        world.answer(world.added[1].id, [doc("rooms/b", 30)], at: 40, token: [8])
        // Document a is no row any more, and is asked for alone.
        let limbo = try #require(world.added.last)
        #expect(limbo.kind == .documents([path("rooms/a")]))
        world.answer(limbo.id, [], at: 50, token: [])
        #expect(try listener.take().last?.get().ids == ["b"])
    }

    @Test func `a second refusal is the query's, and fails its listeners`() throws {
        let (world, listener) = try world()
        refuse(world, .invalidArgument("bad resume token"))
        refuse(world, .invalidArgument("bad query"))
        #expect(world.added.count == 2)
        let last = try #require(listener.take().last)
        #expect(throws: SyncError.server(.invalidArgument("bad query"))) { try last.get() }
    }

    @Test func `a refusal for another reason fails at once`() throws {
        let (world, listener) = try world()
        refuse(world, RPCStatus(.permissionDenied, "no"))
        #expect(world.added.count == 1)
        let last = try #require(listener.take().last)
        #expect(throws: SyncError.server(RPCStatus(.permissionDenied, "no"))) { try last.get() }
    }
}
