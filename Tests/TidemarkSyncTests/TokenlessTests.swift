import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// A server that sends no resume tokens: the client must not take its data for newer than it is.
struct TokenlessTests {
    /// Ends the stream and starts the next one.
    private func reconnect(_ world: Harness) {
        world.stream.end(RPCStatus(.unavailable, "gone"))
        world.run()
        world.scheduler.advance(by: .seconds(2))
    }

    /// Starts the target from scratch. A snapshot at 40 contains only document b.
    private func addAnew(_ world: Harness) {
        let id = world.added[0].id
        world.push(
            .targetChange(TargetChange(.add, targetIDs: [id])),
            .documentChange(DocumentChange(doc("rooms/b", 30), targetIDs: [id])))
        world.snapshot(40)
    }

    private func world() throws -> (Harness, Listener) {
        let world = try Harness()
        let listener = world.listen(rooms())
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20, token: [7])
        reconnect(world)
        #expect(world.added[0].resume == .token([7]))
        return (world, listener)
    }

    /// Document b arrived after the token and was deleted before the next stream. A server that
    /// resumes from the old token does not report the deletion.
    @Test func `rows without a token are resumed by their time`() throws {
        let (world, _) = try world()
        world.answer(world.added[0].id, [doc("rooms/b", 30)], at: 40, token: [])
        reconnect(world)
        #expect(world.added[0].resume == .readTime(at(40)))
        #expect(world.added[0].expectedCount == 2)
    }

    @Test func `rows that are not all are asked for again from scratch`() throws {
        let (world, _) = try world()
        addAnew(world)
        reconnect(world)
        #expect(world.added[0].resume == .fromScratch)
    }

    /// Document a was deleted before the stream that starts from scratch, so the server never
    /// reports the deletion.
    @Test func `what a listen from scratch does not notify of is asked for`() throws {
        let (world, listener) = try world()
        addAnew(world)
        reconnect(world)
        world.answer(world.added[0].id, [doc("rooms/b", 30)], at: 60, token: [])
        let limbo = try #require(world.added.last)
        #expect(limbo.kind == .documents([path("rooms/a")]))
        world.answer(limbo.id, [], at: 70, token: [])
        #expect(try listener.take().last?.get().ids == ["b"])
    }

    @Test func `a token that comes after all is kept`() throws {
        let (world, _) = try world()
        world.answer(world.added[0].id, [doc("rooms/b", 30)], at: 40, token: [])
        world.push(.targetChange(TargetChange(.noChange, resumeToken: [9], readTime: at(50))))
        reconnect(world)
        #expect(world.added[0].resume == .token([9]))
    }
}
