import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

struct LimboTests {
    /// Returns a world with a current listener on `rooms` that shows a and b. The tests put b in
    /// limbo.
    private func world() throws -> (Harness, Listener, wireID: Int32) {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10), doc("rooms/b", 10)], at: 20)
        _ = listener.take()
        return (world, listener, id)
    }

    private func putIntoLimbo(_ world: Harness, _ id: Int32) -> Int32 {
        world.push(
            .documentRemove(
                DocumentRemoval(path("rooms/b"), removedTargetIDs: [id], readTime: nil)))
        world.snapshot(30)
        return world.added.last!.id
    }

    @Test func `a row that its target lost is asked for alone, and deleted when it is gone`() throws
    {
        let (world, listener, id) = try world()
        let limbo = putIntoLimbo(world, id)
        #expect(world.added.last?.kind == .documents([path("rooms/b")]))
        guard case .add(_, let labels)? = world.stream.sent.last else { throw Unexpected() }
        #expect(labels == ["goog-listen-tags": "limbo-document"])
        let unsure = try listener.snapshot()
        #expect(unsure.ids == ["a", "b"] && unsure.isFromCache)

        world.answer(limbo, [], at: 40)
        let sure = try listener.snapshot()
        #expect(sure.ids == ["a"] && !sure.isFromCache)
        #expect(world.removed == [limbo])
    }

    @Test func `a document in limbo that changed leaves the query`() throws {
        let world = try Harness()
        let query = rooms { $0.filter = .field(field("open"), .equal, .boolean(true)) }
        let listener = world.listen(query)
        let id = world.added[0].id
        world.answer(id, [doc("rooms/b", 10, ["open": .boolean(true)])], at: 20)
        _ = listener.take()
        let limbo = putIntoLimbo(world, id)
        world.answer(limbo, [doc("rooms/b", 25, ["open": .boolean(false)])], at: 40)
        #expect(try listener.snapshot().ids.isEmpty)
        let read = try world.read(path("rooms/b"), source: .cache).all[0].get()
        #expect(read.documents[0].document.fields == ["open": .boolean(false)])
    }

    @Test func `a document that may not be read any more is forgotten`() throws {
        let (world, listener, id) = try world()
        let limbo = putIntoLimbo(world, id)
        _ = listener.take()
        world.push(
            .targetChange(
                TargetChange(
                    .remove, targetIDs: [limbo], cause: RPCStatus(.permissionDenied, "no"))))
        #expect(try listener.snapshot().ids == ["a"])
        #expect(world.removed.isEmpty, "the server removed it already")
        let read = world.read(path("rooms/b"), source: .cache)
        #expect(read.all == [.failure(.notInCache(reason: .askedForCache))])
    }

    @Test func `when the listener leaves, the questions are withdrawn`() throws {
        let (world, listener, id) = try world()
        let limbo = putIntoLimbo(world, id)
        listener.handle?.cancel()
        world.run()
        #expect(Set(world.removed) == [id, limbo])
    }

    /// Writes a document that the query shows only with the server's time, and acknowledges it. The
    /// listen has not reported the document.
    private func acknowledged() throws -> (Harness, Listener, wireID: Int32) {
        let world = try Harness()
        let query = rooms {
            $0.filter = .field(field("at"), .greaterThanOrEqual, .timestamp(at(25)))
        }
        let listener = world.listen(query, metadata: true)
        let id = world.added[0].id
        world.answer(id, [], at: 20)
        _ = listener.take()
        let write = Mutation(
            path: path("rooms/a"), .set([:]),
            transforms: [FieldTransform(field("at"), .serverTimestamp)])
        _ = world.write(write)
        world.shakeHands()
        world.acknowledge(
            at: 30, MutationResult(updateTime: at(30), transformResults: [.timestamp(at(30))]))
        return (world, listener, id)
    }

    /// The listen reports the document with its next snapshot. A request would cost a second read
    /// for each own write of a live feed.
    @Test func `an acknowledged write waits for the listen, and is not asked for`() throws {
        let (world, listener, id) = try acknowledged()
        let shown = try listener.snapshot()
        #expect(shown.ids == ["a"] && shown.isFromCache)
        world.push(
            .documentChange(
                DocumentChange(
                    doc("rooms/a", 30, ["at": .timestamp(at(30))]), targetIDs: [id])))
        world.snapshot(30)
        #expect(try !listener.snapshot().isFromCache)
        #expect(world.added.map(\.id) == [id])
    }

    @Test func `an acknowledged write that the listen has passed is asked for`() throws {
        let (world, listener, _) = try acknowledged()
        world.snapshot(31)
        #expect(world.added.last?.kind == .documents([path("rooms/a")]))
        _ = listener.take()
        world.answer(world.added.last!.id, [], at: 40)
        #expect(try listener.snapshot().ids.isEmpty)
    }

    @Test func `a hundred are asked for at once, the others in turn`() {
        var machine = LimboResolution(limit: 2)
        #expect(
            machine.step(.entered(path("r/a"), view: 2)) == [.listen(targetID: 1, path("r/a"))])
        #expect(
            machine.step(.entered(path("r/b"), view: 2)) == [.listen(targetID: 3, path("r/b"))])
        #expect(machine.step(.entered(path("r/c"), view: 2)).isEmpty)
        #expect(machine.step(.entered(path("r/d"), view: 2)).isEmpty)
        #expect(machine.step(.entered(path("r/d"), view: 4)).isEmpty)
        #expect(machine.queue == [path("r/c"), path("r/d")])
        #expect(
            machine.step(.left(path("r/a"), view: 2))
                == [.unlisten(targetID: 1), .listen(targetID: 5, path("r/c"))])
        // Another view still needs d.
        #expect(machine.step(.left(path("r/d"), view: 2)).isEmpty)
        #expect(
            machine.step(.rejected(targetID: 3)) == [.listen(targetID: 7, path("r/d"))])
        #expect(machine.step(.left(path("r/b"), view: 2)).isEmpty, "gone from the stream")
        #expect(machine.step(.viewGone(4)) == [.unlisten(targetID: 7)])
    }
}

struct Unexpected: Error {}

struct ExistenceFilterTests {
    private func world() throws -> (Harness, Listener, wireID: Int32) {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10), doc("rooms/b", 10)], at: 20, token: [7])
        _ = listener.take()
        return (world, listener, id)
    }

    @Test func `a count that agrees changes nothing`() throws {
        let (world, listener, id) = try world()
        world.push(.existenceFilter(ExistenceFilter(targetID: id, count: 2)))
        world.snapshot(30)
        #expect(listener.take().isEmpty)
        #expect(world.added.count == 1)
    }

    @Test func `a count that differs listens again from scratch, saying why`() throws {
        let (world, listener, id) = try world()
        world.push(.existenceFilter(ExistenceFilter(targetID: id, count: 1)))
        world.snapshot(30)
        #expect(try listener.snapshot().isFromCache)
        #expect(world.removed == [id])
        guard case .add(let again, let labels)? = world.stream.sent.last else { throw Unexpected() }
        #expect(again.resume == .fromScratch && again.id != id)
        #expect(labels == ["goog-listen-tags": "existence-filter-mismatch"])

        world.answer(again.id, [doc("rooms/a", 10)], at: 40)
        let limbo = world.added.last!
        #expect(limbo.kind == .documents([path("rooms/b")]))
        world.answer(limbo.id, [], at: 50)
        #expect(try #require(listener.take().last).get().ids == ["a"])
    }

    @Test func `a bloom filter finds what was missed without a full read`() throws {
        let (world, listener, id) = try world()
        let bits = BloomFilter(names: [path("rooms/a").name(in: Harness.database)]).bits
        world.push(
            .existenceFilter(ExistenceFilter(targetID: id, count: 1, unchangedNames: bits)))
        world.snapshot(30)
        #expect(world.removed.isEmpty)
        #expect(world.added.last?.kind == .documents([path("rooms/b")]))
        world.answer(world.added.last!.id, [], at: 40)
        #expect(try #require(listener.take().last).get().ids == ["a"])
    }

    @Test func `a bloom filter that cannot explain the count is not believed`() throws {
        let (world, _, id) = try world()
        let names = ["a", "b"].map { path("rooms/\($0)").name(in: Harness.database) }
        world.push(
            .existenceFilter(
                ExistenceFilter(
                    targetID: id, count: 1, unchangedNames: BloomFilter(names: names).bits)))
        world.snapshot(30)
        guard case .add(_, let labels)? = world.stream.sent.last else { throw Unexpected() }
        #expect(labels == ["goog-listen-tags": "existence-filter-mismatch-bloom"])
    }
}

struct LimitTests {
    private let top = rooms { query in
        query.orders = [Order(field("n"), .ascending)]
        query.limit = .first(2)
    }

    private func world() throws -> (Harness, Listener) {
        let world = try Harness()
        // This listener has no limit, so the cache knows rows beyond the limit.
        _ = world.listen(rooms())
        let rows = (1...4).map { doc("rooms/\($0)", 10, ["n": .integer(Int64($0))]) }
        world.answer(world.added[0].id, rows, at: 20)
        let listener = world.listen(top)
        world.answer(world.added[1].id, Array(rows.prefix(2)), at: 30)
        _ = listener.take()
        return (world, listener)
    }

    @Test func `a row that leaves a full window lets the next one move up`() throws {
        let (world, listener) = try world()
        _ = world.write(Mutation(path: path("rooms/1"), .delete))
        let snapshot = try listener.snapshot()
        #expect(snapshot.ids == ["2", "3"])
        #expect(snapshot.summary == ["removed 1", "added 3"])
    }

    @Test func `the edge moving out lets the next one in`() throws {
        let (world, listener) = try world()
        _ = world.write(set("rooms/2", ["n": .integer(9)]))
        #expect(try listener.snapshot().ids == ["1", "3"])
    }

    @Test func `a row that comes in pushes the edge out`() throws {
        let (world, listener) = try world()
        _ = world.write(set("rooms/0", ["n": .integer(0)]))
        let snapshot = try listener.snapshot()
        #expect(snapshot.ids == ["0", "1"])
        #expect(snapshot.summary == ["removed 2", "added 0"])
    }
}
