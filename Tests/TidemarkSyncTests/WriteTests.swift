import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

struct WriteTests {
    @Test func `a write is journalled, shown, sent and acknowledged`() throws {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [], at: 20)
        _ = listener.take()

        let events = world.write(set("rooms/a", ["n": .integer(1)]))
        #expect(events.all == [.journalled(batch: 1)])
        let local = try listener.snapshot()
        #expect(local.ids == ["a"] && local.hasPendingWrites && !local.isFromCache)

        #expect(world.writeStream.sent == [WriteRequest()])
        world.shakeHands()
        #expect(
            world.writeStream.sent.last
                == WriteRequest(streamToken: [9], mutations: [set("rooms/a", ["n": .integer(1)])]))
        world.acknowledge(at: 30)
        #expect(events.all.last == .acknowledged(commitTime: at(30)))
        #expect(listener.take().isEmpty, "not shown before the listen confirms it")

        world.push(
            .documentChange(
                DocumentChange(
                    doc("rooms/a", 30, ["n": .integer(1)]), targetIDs: [world.added[0].id])))
        world.snapshot(31)
        let confirmed = try listener.snapshot()
        #expect(confirmed.summary == ["metadata a"] && !confirmed.hasPendingWrites)
    }

    @Test func `a full queue refuses a write, and takes one again after an acknowledgement`() throws
    {
        let world = try Harness(maxPendingWrites: 2)
        for id in ["a", "b"] { _ = world.write(set("rooms/\(id)", [:])) }
        let refused = world.write(set("rooms/c", [:]))
        #expect(refused.all == [.failed(.queueFull(limit: 2))])
        world.shakeHands()
        world.acknowledge(at: 30)
        let taken = world.write(set("rooms/d", [:]))
        #expect(taken.all == [.journalled(batch: 3)])
    }

    @Test func `a rejected write is taken back with its reason, and the next goes on`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        world.answer(world.added[0].id, [], at: 20)
        let bad = world.write(set("rooms/a", [:]))
        let good = world.write(set("rooms/b", [:]))
        world.shakeHands()
        _ = listener.take()
        let status = RPCStatus(.permissionDenied, "no")
        world.writeStream.end(status)
        world.run()
        #expect(bad.all.last == .failed(.server(status)))
        #expect(try listener.snapshot().ids == ["b"])
        world.scheduler.advance(by: .zero)
        #expect(world.transport.writes.count == 2)
        world.shakeHands()
        #expect(world.writeStream.sent.last?.mutations == [set("rooms/b", [:])])
        world.acknowledge(at: 30)
        #expect(good.all.last == .acknowledged(commitTime: at(30)))
    }

    @Test func `a transient error sends the same batches again, after a delay`() throws {
        let world = try Harness()
        let events = world.write(set("rooms/a", [:]))
        world.shakeHands()
        for (failures, delay) in [0.0, 1.0, 1.5, 2.25].enumerated() {
            world.writeStream.end(RPCStatus(.unavailable, "gone"))
            world.run()
            #expect(world.scheduler.delay(of: .writeBackoff) == .seconds(delay))
            world.scheduler.advance(by: .seconds(delay))
            #expect(world.transport.writes.count == failures + 2)
        }
        world.shakeHands()
        world.acknowledge(at: 30)
        #expect(events.all.last == .acknowledged(commitTime: at(30)))
    }

    @Test func `at most ten batches are under way, in order`() throws {
        let world = try Harness()
        for index in 0..<15 { _ = world.write(set("rooms/\(index)", [:])) }
        world.shakeHands()
        let sent = { world.writeStream.sent.dropFirst().map { $0.mutations[0].path.id } }
        #expect(sent() == (0..<10).map(String.init))
        world.acknowledge(at: 30)
        #expect(sent() == (0..<11).map(String.init))
    }

    @Test func `the queue survives and is sent after a restart, once each`() throws {
        let file = TemporaryFile()
        let increment = Mutation(
            path: path("rooms/a"), .patch(["s": .string("x")], mask: [field("s")]),
            transforms: [FieldTransform(field("n"), .increment(.integer(2)))])
        var before: Harness? = try Harness(cacheFile: file.path)
        _ = before!.write(set("rooms/a", ["n": .integer(1)]))
        _ = before!.write(increment)
        before!.shakeHands()
        before!.acknowledge(at: 30)
        before = nil  // No clean end.

        let after = try Harness(cacheFile: file.path)
        #expect(after.transport.writes.count == 1)
        after.shakeHands()
        #expect(after.writeStream.sent.dropFirst().map(\.mutations) == [[increment]])
        let shown = try after.read(path("rooms/a"), source: .cache).all[0].get()
        #expect(
            shown.documents[0].document.fields == ["n": .integer(3), "s": .string("x")])
        after.acknowledge(
            at: 40, MutationResult(updateTime: at(40), transformResults: [.integer(3)]))
        after.terminate()

        let last = try Harness(cacheFile: file.path)
        #expect(last.transport.writes.isEmpty)
        let kept = try last.read(path("rooms/a"), source: .cache).all[0].get().documents[0]
        #expect(kept.document.fields == ["n": .integer(3), "s": .string("x")])
        #expect(kept.hasCommittedMutations && !kept.hasLocalMutations)
    }

    @Test func `batch ids are never used twice`() throws {
        let file = TemporaryFile()
        let before = try Harness(cacheFile: file.path)
        _ = before.write(set("rooms/a", [:]))
        before.shakeHands()
        before.acknowledge(at: 30)
        before.terminate()
        let after = try Harness(cacheFile: file.path)
        #expect(after.write(set("rooms/a", [:])).all == [.journalled(batch: 2)])
    }

    @Test func `a kill leaves out batch ids rather than using one twice`() throws {
        let file = TemporaryFile()
        let before = try Harness(cacheFile: file.path)
        _ = before.write(set("rooms/a", [:]))
        _ = before.write(set("rooms/b", [:]))
        before.shakeHands()
        before.acknowledge(at: 30)
        before.acknowledge(at: 31)
        before.engine.core.local.abandon()
        let after = try Harness(cacheFile: file.path)
        guard case .journalled(let first)? = after.write(set("rooms/a", [:])).all.first,
            case .journalled(let second)? = after.write(set("rooms/a", [:])).all.first
        else { throw Unexpected() }
        #expect(first > 2 && second == first + 1)
    }

    @Test func `batch ids go on by one beyond those that are taken at once`() throws {
        let world = try Harness()
        for number in 1...250 {
            let events = world.write(set("rooms/a", ["n": .integer(Int64(number))]))
            #expect(events.all == [.journalled(batch: Int64(number))])
        }
    }

    @Test func `a pending increment is not counted twice when the server has it`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10, ["n": .integer(5)])], at: 20)
        _ = listener.take()
        _ = world.write(
            Mutation(
                path: path("rooms/a"), .patch([:], mask: []),
                transforms: [FieldTransform(field("n"), .increment(.integer(1)))]))
        #expect(try listener.snapshot().fields("rooms/a") == ["n": .integer(6)])
        // The server has applied the write, but its response has not arrived.
        world.push(
            .documentChange(
                DocumentChange(doc("rooms/a", 30, ["n": .integer(6)]), targetIDs: [id])))
        world.snapshot(31)
        #expect(listener.take().isEmpty)
        let shown = try world.read(path("rooms/a"), source: .cache).all[0].get()
        #expect(shown.documents[0].document.fields == ["n": .integer(6)])
    }

    @Test func `waiting for pending writes ends with the last that was pending then`() throws {
        let world = try Harness()
        let done = Events<SyncError?>()
        _ = world.write(set("rooms/a", [:]))
        world.engine.waitForPendingWrites { done.record($0) }
        world.run()
        _ = world.write(set("rooms/b", [:]))
        world.shakeHands()
        #expect(done.all.isEmpty)
        world.acknowledge(at: 30)
        #expect(done.all == [nil])
    }

    @Test func `queries are answered with pending writes in their place`() throws {
        let world = try Harness()
        let query = rooms { query in
            query.orders = [Order(field("n"), .ascending)]
            query.limit = .first(2)
        }
        let read = { try world.read(query, source: .cache).all[0].get().ids }
        _ = world.write(set("rooms/c", ["n": .integer(3)]), set("rooms/b", ["n": .integer(2)]))
        #expect(try read() == ["b", "c"])
        _ = world.write(set("rooms/a", ["n": .integer(1)]))
        #expect(try read() == ["a", "b"])
        _ = world.write(Mutation(path: path("rooms/b"), .delete))
        #expect(try read() == ["a", "c"])
    }
}
