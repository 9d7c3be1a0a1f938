import Tidemark
import TidemarkApp
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A feed` {
    private func world(
        pageSize: Int = 500, _ body: (FeedWorld) async throws -> Void
    ) async throws {
        let world = try await FeedWorld(pageSize: pageSize)
        do { try await body(world) } catch {
            await world.end()
            throw error
        }
        await world.end()
    }

    @Test func `reads everything once, then only what changed`() async throws {
        try await world { world in
            for index in 0..<20 { try await world.insert(age: Int64(index)) }
            world.wait(3_600)
            let first = try await world.feed.sync()
            #expect(first.plans.map(\.kind) == [.full])
            #expect(first.reads == 20)
            #expect(world.billed() == 20, "what it says it reads is what is billed")
            #expect(try await world.shown() == world.truth())

            try await world.insert()
            world.wait(3_600)
            let second = try await world.feed.sync()
            #expect(second.plans.map(\.kind) == [.delta])
            #expect(second.reads == 1)
            #expect(world.billed() == 21)
            #expect(try await world.shown() == world.truth())
        }
    }

    @Test func `shows what is on disk after a relaunch, for no reads`() async throws {
        try await world { world in
            for index in 0..<5 { try await world.insert(age: Int64(index)) }
            world.wait(600)
            try await world.feed.sync()
            let billed = world.billed()
            let truth = try await world.truth()
            try await world.relaunch()
            #expect(await world.shown() == truth)
            #expect(world.billed() == billed)
            guard case .stale = await world.feed.state.phase else {
                Issue.record("it has not asked the server yet")
                return
            }
            let sync = try await world.feed.sync()
            #expect(sync.plans.map(\.kind) == [.delta])
            #expect(sync.changed == 0)
            #expect(world.billed() == billed + 1, "a query is billed at least one read")
        }
    }

    @Test func `shows late arrivals, equal times, edits, and no deleted item`() async throws {
        try await world { world in
            let old = try await world.insert(age: 100)
            let gone = try await world.insert(age: 90)
            world.wait(600)
            try await world.feed.sync()
            try await world.feed.markConsumed()

            try await world.insert(age: 50_000)
            try await world.insert(age: 10)
            try await world.insert(age: 10)
            try await world.edit(old, "changed")
            try await world.delete(gone)
            world.wait(600)
            let sync = try await world.feed.sync()
            #expect(sync.changed == 5)
            #expect(try await world.shown() == world.truth())
            #expect(await world.shown().contains("messages/\(old) changed"))
            #expect(await world.feed.items.count == 4)
            #expect(await world.feed.unreadCount == 2, "consumed through the newest of then")
        }
    }

    @Test func `recognises what the overlap brings again`() async throws {
        try await world { world in
            try await world.insert()
            try await world.feed.sync()
            let again = try await world.feed.sync()
            #expect(again.reads == 1)
            #expect(again.changed == 0)
            #expect(await world.feed.items.count == 1)
        }
    }

    @Test func `reads in pages and misses nothing between them`() async throws {
        try await world(pageSize: 3) { world in
            for index in 0..<10 { try await world.insert(age: Int64(index % 4)) }
            let sync = try await world.feed.sync()
            #expect(sync.plans.map(\.kind) == [.full, .page, .page, .page])
            #expect(sync.reads == 10)
            #expect(try await world.shown() == world.truth())
        }
    }

    @Test func `hides what was cleared, for good, and shows what comes`() async throws {
        try await world { world in
            for index in 1..<6 { try await world.insert(age: Int64(index)) }
            world.wait(600)
            try await world.feed.sync()
            let newest = try #require(await world.feed.items.first?.time)
            #expect(try await world.feed.clear() == .moved(to: newest))
            #expect(await world.feed.items.isEmpty)
            try await world.relaunch()
            #expect(await world.feed.items.isEmpty)
            try await world.insert()
            world.wait(600)
            try await world.feed.sync()
            #expect(try await world.shown() == world.truth(above: newest))
            #expect(await world.feed.items.count == 1)
            let everything = CoveragePosition.lowest..<CoveragePosition.highest
            #expect(
                await world.feed.coverage.gaps(in: everything)
                    == [.lowest..<CoveragePosition.end(of: newest)])
        }
    }

    @Test func `a clear in the future goes no further than the server's time`() async throws {
        try await world { world in
            try await world.insert()
            try await world.feed.sync()
            let ahead = Timestamp(seconds: world.now + 86_400, nanoseconds: 0)
            guard case .clamped(let mark)? = try await world.feed.clear(through: ahead) else {
                Issue.record("not clamped")
                return
            }
            #expect(mark < ahead)
            #expect(mark.seconds >= world.now)
        }
    }

    @Test func `a clear before anything is known of the server's time goes back to it`()
        async throws
    {
        try await world { world in
            try await world.insert()
            let ahead = Timestamp(seconds: world.now + 86_400, nanoseconds: 0)
            #expect(try await world.feed.clear(through: ahead) == .moved(to: ahead))
            try await world.feed.sync()
            let old = Timestamp(seconds: 1, nanoseconds: 0)
            guard case .ignored(let mark)? = try await world.feed.clear(through: old) else {
                Issue.record("there is no mark")
                return
            }
            #expect(mark < ahead)
            try await world.relaunch()
            #expect(try await world.feed.clear(through: old) == .ignored(at: mark))
            world.wait(600)
            try await world.insert()
            try await world.feed.sync()
            #expect(try await world.shown() == world.truth(above: mark))
            #expect(await world.feed.items.count == 1, "nothing that came later is hidden")
        }
    }

    @Test func `tells its states, the newest first`() async throws {
        try await world { world in
            try await world.insert()
            try await world.feed.sync()
            for await state in world.feed.states {
                #expect(state.items.count == 1)
                guard case .fresh = state.phase else {
                    Issue.record("\(state.phase)")
                    break
                }
                break
            }
        }
    }

    @Test func `is of one user, and stores nothing for the next`() async throws {
        try await world { world in
            for _ in 0..<3 { try await world.insert(age: 0) }
            try await world.feed.sync()
            let old = world.feed
            try await world.device.changeUser(to: "ben")
            do throws(FirestoreError) {
                try await old.sync()
                Issue.record("a feed went on for another user")
            } catch { #expect(error.code == .cancelled) }
            let feed = try Feed(
                FeedDefinition(
                    query: world.device.collection("messages"), itemTime: "createdAt",
                    way: .changeTime("updatedAt", deletedField: "deletedAt")))
            #expect(try await feed.open().isEmpty)
            try await feed.sync()
            #expect(await feed.items.count == 3)
            // After a change back to the first user, the first user's items are there.
            try await world.device.changeUser(to: nil)
            let again = try Feed(
                FeedDefinition(
                    query: world.device.collection("messages"), itemTime: "createdAt",
                    way: .changeTime("updatedAt", deletedField: "deletedAt")))
            #expect(try await again.open().count == 3)
        }
    }

    @Test func `keeps what it holds, however small the cache is to be`() async throws {
        try await world { world in
            for _ in 0..<20 { try await world.insert(age: 0) }
            try await world.feed.sync()
            _ = try await world.device.collection("messages").getDocuments(source: .server)
            await withCheckedContinuation { continuation in
                world.device.engine.collectGarbage(limit: 1, percent: 100) { error in
                    #expect(error == nil)
                    continuation.resume()
                }
            }
            try await world.relaunch()
            #expect(await world.feed.items.count == 20)
        }
    }

    @Test func `refuses a definition that makes no sense`() async throws {
        try await world { world in
            let messages = world.device.collection("messages")
            #expect(throws: FirestoreError.self) {
                try Feed(
                    FeedDefinition(
                        query: messages.limit(to: 5), itemTime: "createdAt",
                        way: .changeTime("updatedAt", deletedField: nil)))
            }
            #expect(throws: FirestoreError.self) {
                try Feed(
                    FeedDefinition(
                        query: messages, itemTime: "a..b",
                        way: .changeTime("updatedAt", deletedField: nil)))
            }
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `shows what a full read shows, whatever happened`(seed: UInt64) async throws {
        try await world(pageSize: seed.isMultiple(of: 2) ? 4 : 500) { world in
            var random = SeededRandom(seed: seed)
            var cleared: Timestamp?
            for _ in 0..<12 {
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    try await event(world, &random)
                }
                let wait = Int64([0, 10, 60, 4_000, 100_000].randomElement(using: &random) ?? 0)
                if wait > 0 { world.wait(wait) }
                if Bool.random(using: &random) { try await world.relaunch() }
                let billed = world.billed()
                let sync = try await world.feed.sync()
                #expect(world.billed() - billed == sync.reads, "seed \(seed)")
                let (shown, truth) = (await world.shown(), try await world.truth(above: cleared))
                try #require(shown == truth, "seed \(seed)")
                if Int.random(in: 0..<5, using: &random) == 0 {
                    switch try await world.feed.clear() {
                    case .moved(let time)?, .clamped(let time)?: cleared = time
                    case .ignored?, .reset?, nil: break
                    }
                }
            }
        }
    }

    private func event(_ world: FeedWorld, _ random: inout SeededRandom) async throws {
        let known = world.ids.randomElement(using: &random)
        switch (Int.random(in: 0..<10, using: &random), known) {
        case (0...1, let id?):
            try await world.edit(id, "edit \(Int.random(in: 0..<100, using: &random))")
        case (2, let id?): try await world.delete(id)
        case (3...4, _): try await world.insert(age: .random(in: 0...200_000, using: &random))
        default: try await world.insert(age: .random(in: 0...2, using: &random))
        }
    }
}
