import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

struct StormBreakerTests {
    private let bounds = StormBreaker.Bounds(
        requeries: 3, limboDocuments: 4, firstPause: .seconds(60), longestPause: .seconds(200))

    private func breaker() -> StormBreaker { StormBreaker(limit: 3, bounds) }

    @Test func `what comes now and then passes`() {
        var breaker = breaker()
        for minute in 0..<20 {
            for _ in 0..<3 {
                let isAdmitted = breaker.admit(at: .seconds(61 * minute))
                #expect(isAdmitted)
            }
        }
        #expect(breaker.state == .closed)
    }

    @Test func `a storm opens it, for longer each time, and calm closes it`() {
        var breaker = breaker()
        var now = Duration.zero
        func admitted() -> Int {
            var count = 0
            while breaker.admit(at: now) { count += 1 }
            return count
        }
        for pause in [60, 120, 200, 200] {
            #expect(admitted() == 3)
            #expect(breaker.openUntil == now + .seconds(pause))
            now += .seconds(pause - 1)
            #expect(admitted() == 0)
            now += .seconds(1)
        }
        #expect(breaker.admit(at: now) && breaker.state == .halfOpen)
        now += .seconds(61)
        #expect(breaker.admit(at: now) && breaker.state == .closed)
        now += .seconds(61)
        #expect(admitted() == 3)
        #expect(breaker.openUntil == now + .seconds(60), "it is the first time again")
    }
}

struct StormTests {
    private func world(_ bounds: StormBreaker.Bounds) throws -> Harness {
        try Harness(stormBounds: bounds)
    }

    private func mismatch(_ world: Harness, count: Int32, at time: Int64) {
        world.push(
            .existenceFilter(
                ExistenceFilter(targetID: world.added.last!.id, count: count, unchangedNames: nil)))
        world.snapshot(time)
    }

    @Test func `a result that is asked for again and again is shown from the cache for a while`()
        throws
    {
        let world = try world(.init(requeries: 2, limboDocuments: 100))
        let told = Events<ReadEvent>()
        let meter = world.engine.observeReads { told.record($0) }
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        for round in 0..<2 {
            mismatch(world, count: 5, at: Int64(30 + 10 * round))
            #expect(world.added.count == 2 + round, "asked again from scratch")
            #expect(world.added.last!.resume == .fromScratch)
            world.answer(world.added.last!.id, [doc("rooms/a", 10)], at: Int64(35 + 10 * round))
        }
        mismatch(world, count: 5, at: 60)
        #expect(world.added.count == 3, "and then no more")
        let shown = try #require(try listener.take().last?.get())
        #expect(shown.isFromCache && shown.staleReason == .readStorm(.requery))
        #expect(shown.ids == ["a"])
        guard case .stormStopped(_, .requery, pause: .seconds(60))? = told.all.last else {
            Issue.record("\(told.all)")
            return
        }
        // A read from the cache does not wait for a stopped target.
        #expect(world.read(rooms(), source: .cache).all.count == 1)

        world.scheduler.advance(by: .seconds(59))
        #expect(world.added.count == 3)
        world.scheduler.advance(by: .seconds(2))
        let last = try #require(world.added.last)
        #expect(last.resume == .fromScratch)
        world.answer(last.id, [doc("rooms/a", 10), doc("rooms/b", 50)], at: 70, token: [7])
        let whole = try #require(try listener.take().last?.get())
        #expect(whole.ids == ["a", "b"] && !whole.isFromCache, "nothing is left out in the end")
        meter.cancel()
    }

    @Test func `documents in limbo beyond the bound are asked for after the pause`() throws {
        let world = try world(.init(requeries: 5, limboDocuments: 3))
        let listener = world.listen(rooms(), metadata: true)
        let id = world.added[0].id
        let names = (0..<8).map { "rooms/\($0)" }
        world.answer(id, names.map { doc($0, 10) }, at: 20)
        _ = listener.take()
        for name in names {
            world.push(
                .documentRemove(
                    DocumentRemoval(path(name), removedTargetIDs: [id], readTime: nil)))
        }
        world.snapshot(30)
        var asked = 0
        var time: Int64 = 40
        for round in 0..<3 {
            let new = world.added.dropFirst(1 + asked)
            #expect(new.count == (round < 2 ? 3 : 2), "round \(round)")
            for target in new {
                world.answer(target.id, [], at: time)
                time += 1
            }
            asked += new.count
            let seen = try #require(try listener.take().last?.get())
            #expect(seen.count == 8 - asked)
            #expect(seen.isFromCache == (round < 2))
            if round < 2 { #expect(seen.staleReason == .readStorm(.limbo)) }
            // The pause is one minute, then two minutes.
            world.scheduler.advance(by: .seconds(round == 0 ? 61 : 121))
        }
        #expect(asked == 8)
        #expect(world.transport.listens.count == 1, "the target itself went on")
    }

    @Test func `leaving and coming back is no way around an open breaker`() throws {
        let world = try world(.init(requeries: 1, limboDocuments: 3))
        var listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        mismatch(world, count: 5, at: 30)
        world.answer(world.added.last!.id, [doc("rooms/a", 10)], at: 35)
        mismatch(world, count: 5, at: 40)
        let count = world.added.count
        listener.handle?.cancel()
        world.run()
        listener = world.listen(rooms(), metadata: true)
        #expect(world.transport.listens.flatMap(\.sent).count == world.stream.sent.count)
        #expect(world.added.count == count)
        #expect(try listener.take().last?.get().staleReason == .readStorm(.requery))
    }
}
