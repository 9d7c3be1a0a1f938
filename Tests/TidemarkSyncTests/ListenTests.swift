import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

struct ListenTests {
    @Test func `an empty cache waits for the server, then shows its rows`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        #expect(listener.take().isEmpty)
        let target = try #require(world.added.first)
        #expect(target.kind == .query(rooms()))
        #expect(target.resume == .fromScratch)

        world.answer(target.id, [doc("rooms/a", 10, ["n": .integer(1)])], at: 20)
        let snapshot = try listener.snapshot()
        #expect(snapshot.ids == ["a"])
        #expect(!snapshot.isFromCache)
        #expect(snapshot.readTime == at(20))
        #expect(snapshot.summary == ["added a"])
    }

    @Test func `nothing is shown before a consistent snapshot`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let id = world.added[0].id
        world.push(
            .targetChange(TargetChange(.add, targetIDs: [id])),
            .documentChange(DocumentChange(doc("rooms/a", 10), targetIDs: [id])),
            .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: [1])),
            .targetChange(TargetChange(.noChange, targetIDs: [id], readTime: at(15))))
        #expect(listener.take().isEmpty)
        world.snapshot(20)
        #expect(try listener.snapshot().ids == ["a"])
    }

    @Test func `changes, removals and deletions arrive as one snapshot each`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10), doc("rooms/b", 10), doc("rooms/c", 10)], at: 20)
        _ = listener.take()
        world.push(
            .documentChange(
                DocumentChange(doc("rooms/b", 25, ["n": .integer(2)]), targetIDs: [id])),
            .documentDelete(
                DocumentRemoval(path("rooms/a"), removedTargetIDs: [id], readTime: at(26))),
            .documentChange(
                DocumentChange(doc("rooms/d", 27), targetIDs: [id])))
        world.snapshot(30)
        let snapshot = try listener.snapshot()
        #expect(snapshot.summary == ["removed a", "added d", "modified b"])
        #expect(snapshot.ids == ["b", "c", "d"])
        #expect(snapshot.oldDocuments.map(\.path.id) == ["a", "b", "c"])
    }

    @Test func `a second listener sees what the first has, without another target`() throws {
        let world = try Harness()
        let first = world.listen(rooms())
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        _ = first.take()
        let second = world.listen(rooms())
        #expect(try second.snapshot().ids == ["a"])
        #expect(world.added.count == 1)
        first.handle?.cancel()
        world.run()
        #expect(world.removed.isEmpty)
        second.handle?.cancel()
        world.run()
        #expect(world.removed == [world.added[0].id])
    }

    /// Fills a cache with two rooms and a resume token.
    private func fillRooms(_ file: TemporaryFile) throws {
        let before = try Harness(cacheFile: file.path)
        _ = before.listen(rooms())
        before.answer(
            before.added[0].id, [doc("rooms/a", 10), doc("rooms/b", 11)], at: 20, token: [7])
        before.terminate()
    }

    @Test func `what a target holds is read when the server is asked, and not to show the cache`()
        throws
    {
        let file = TemporaryFile()
        try fillRooms(file)

        let after = try Harness(cacheFile: file.path)
        let cached = after.listen(rooms(), source: .cache)
        #expect(try cached.snapshot().ids == ["a", "b"])
        #expect(after.transport.listens.isEmpty, "nobody has asked the server")
        #expect(after.engine.core.listenedQueries.first?.view.synced == nil)
        let live = after.listen(rooms())
        #expect(try live.snapshot().ids == ["a", "b"])
        #expect(after.added[0].expectedCount == 2)
        let id = after.added[0].id
        after.answer(id, [], at: 30, token: [8])
        #expect(after.added.count == 1, "no row is in limbo")
        _ = (live.take(), cached.take())
        after.push(
            .documentDelete(
                DocumentRemoval(path("rooms/a"), removedTargetIDs: [id], readTime: at(35))))
        after.snapshot(40)
        let last = try live.snapshot()
        #expect(last.summary == ["removed a"] && !last.isFromCache)
        #expect(try cached.snapshot().ids == ["b"])
    }

    @Test func `a reopened cache shows its rows at once and resumes by token`() throws {
        let file = TemporaryFile()
        try fillRooms(file)

        let after = try Harness(cacheFile: file.path)
        let listener = after.listen(rooms())
        let first = try listener.snapshot()
        #expect(first.ids == ["a", "b"])
        #expect(first.isFromCache)
        #expect(after.added[0].resume == .token([7]))
        #expect(after.added[0].expectedCount == 2)

        let id = after.added[0].id
        after.answer(id, [doc("rooms/c", 30)], at: 40, token: [8])
        let live = try listener.snapshot()
        #expect(live.ids == ["a", "b", "c"])
        #expect(!live.isFromCache)
    }

    @Test func `a clean end keeps the newest token, also within the five minutes`() throws {
        let file = TemporaryFile()
        let before = try Harness(cacheFile: file.path)
        _ = before.listen(rooms())
        let id = before.added[0].id
        before.answer(id, [doc("rooms/a", 10)], at: 20, token: [7])
        before.push(
            .targetChange(TargetChange(.noChange, targetIDs: [id], resumeToken: [8])))
        before.snapshot(30)
        before.terminate()
        let after = try Harness(cacheFile: file.path)
        _ = after.listen(rooms())
        #expect(after.added[0].resume == .token([8]))
    }

    @Test func `an empty result that is known to be empty is shown at once`() throws {
        let file = TemporaryFile()
        let before = try Harness(cacheFile: file.path)
        _ = before.listen(rooms())
        before.answer(before.added[0].id, [], at: 20)
        before.terminate()
        let after = try Harness(cacheFile: file.path)
        let snapshot = try after.listen(rooms()).snapshot()
        #expect(snapshot.documents.isEmpty)
        #expect(snapshot.isFromCache)
    }

    @Test func `a listener of the cache never opens a stream`() throws {
        let world = try Harness()
        let listener = world.listen(rooms(), source: .cache)
        #expect(try listener.snapshot().documents.isEmpty)
        #expect(world.transport.listens.isEmpty)
    }

    @Test func `an error on a target ends its listeners once`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let id = world.added[0].id
        let status = RPCStatus(.permissionDenied, "no")
        world.push(.targetChange(TargetChange(.remove, targetIDs: [id], cause: status)))
        let events = listener.take()
        #expect(events == [.failure(.server(status))])
        world.snapshot(20)
        #expect(listener.take().isEmpty)
    }

    @Test func `a broken stream opens again with the newest token and another wire id`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let old = world.added[0].id
        world.answer(old, [doc("rooms/a", 10)], at: 20, token: [5])
        _ = listener.take()
        world.stream.end(RPCStatus(.unavailable, "gone"))
        world.run()
        #expect(world.transport.listens.count == 1)
        world.scheduler.advance(by: .zero)
        #expect(world.transport.listens.count == 2)
        let new = try #require(world.added.first)
        #expect(new.id != old)
        #expect(new.resume == .token([5]))
        // A late message for the old wire id has no effect.
        world.push(.targetChange(TargetChange(.remove, targetIDs: [old])))
        world.answer(new.id, [], at: 30, token: [6])
        #expect(listener.take().isEmpty)
        #expect(world.transport.listens.count == 2)
    }

    @Test func `going offline tells listeners that what they see is the cache's`() throws {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        _ = listener.take()
        for _ in 0..<2 {
            world.stream.end(RPCStatus(.unavailable, "gone"))
            world.scheduler.advance(by: .seconds(2))
        }
        let offline = try listener.snapshot()
        #expect(offline.isFromCache)
        #expect(offline.summary.isEmpty)
        world.answer(world.added[0].id, [], at: 30)
        #expect(try !listener.snapshot().isFromCache)
    }

    @Test func `an empty cache is shown when the server stays silent for ten seconds`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        world.scheduler.advance(by: .seconds(9))
        #expect(listener.take().isEmpty)
        world.scheduler.advance(by: .seconds(1))
        let snapshot = try listener.snapshot()
        #expect(snapshot.documents.isEmpty && snapshot.isFromCache)
    }

    @Test func `the stream is closed a minute after its last listener left`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        world.answer(world.added[0].id, [], at: 20)
        listener.handle?.cancel()
        world.run()
        world.scheduler.advance(by: .seconds(59))
        #expect(!world.stream.isEnded)
        world.scheduler.advance(by: .seconds(1))
        #expect(world.stream.isEnded)
        // The next listener opens another stream immediately.
        _ = world.listen(rooms())
        #expect(world.transport.listens.count == 2)
    }

    @Test func `a snapshot older than the last one is dropped`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10)], at: 20)
        _ = listener.take()
        world.push(.documentChange(DocumentChange(doc("rooms/b", 12), targetIDs: [id])))
        world.snapshot(15)
        #expect(listener.take().isEmpty)
        world.snapshot(25)
        #expect(try listener.snapshot().ids == ["a", "b"])
    }

    @Test func `a limit to the last rows shares the flipped query's target`() throws {
        let world = try Harness()
        let last = rooms { query in
            query.orders = [Order(field("n"), .ascending)]
            query.limit = .last(2)
        }
        let first = rooms { query in
            query.orders = [Order(field("n"), .descending)]
            query.limit = .first(2)
        }
        let a = world.listen(last)
        let b = world.listen(first)
        #expect(world.added.count == 1)
        world.answer(
            world.added[0].id,
            [doc("rooms/x", 10, ["n": .integer(1)]), doc("rooms/y", 10, ["n": .integer(2)])],
            at: 20)
        #expect(try a.snapshot().ids == ["x", "y"])
        #expect(try b.snapshot().ids == ["y", "x"])
    }

    @Test func `a listened document that does not exist is known to be missing`() throws {
        let world = try Harness()
        let listener = Listener()
        _ = world.engine.listen(document: path("rooms/a")) { listener.record($0) }
        world.run()
        #expect(world.added[0].kind == .documents([path("rooms/a")]))
        world.answer(world.added[0].id, [], at: 20)
        let snapshot = try listener.snapshot()
        #expect(snapshot.documents.isEmpty && !snapshot.isFromCache)
        let read = world.read(path("rooms/a"), source: .cache)
        #expect(try read.all[0].get().documents.isEmpty)
    }
}
