import Tidemark
import TidemarkApp
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A feed's window` {
    private func world(
        window: Int, pageSize: Int = 500, _ body: (FeedWorld) async throws -> Void
    ) async throws {
        let world = try await FeedWorld(pageSize: pageSize, window: window)
        do { try await body(world) } catch {
            await world.end()
            throw error
        }
        await world.end()
    }

    @Test func `opens at the cost of what it shows, however much is held`() async throws {
        try await world(window: 50, pageSize: 5_000) { world in
            let count = 20_000
            try await world.insert(many: count)
            for index in 0..<10 { try await world.delete("n\(count - 1 - 2 * index)") }
            world.wait(3_600)
            try await world.feed.sync()
            try await world.relaunch()
            let feed = world.feed
            #expect(await feed.items.count == 50)
            #expect(await feed.state.hasMore)
            #expect(await feed.unreadCount == count - 10)
            #expect(await feed.rowsScanned <= 100, "the window, the deletes in it, and one more")

            let before = await feed.rowsScanned
            try await feed.loadMore(100)
            #expect(await feed.items.count == 150)
            #expect(await feed.rowsScanned - before <= 110)
            let truth = try await world.truth()
            #expect(await world.shown() == Array(truth.prefix(150)))

            try await world.insert()
            world.wait(600)
            let late = await feed.rowsScanned
            try await feed.sync()
            #expect(await feed.rowsScanned - late <= 5, "what is shown is not read again")
            #expect(await feed.items.count == 150)
            #expect(await feed.unreadCount == count - 9)
        }
    }

    @Test func `passes over deletes until it is full, and goes on to the end`() async throws {
        try await world(window: 5) { world in
            for index in 0..<30 { try await world.insert(age: Int64(index)) }
            for index in 0..<12 { try await world.delete("m\(index)") }
            world.wait(600)
            try await world.feed.sync()
            try await world.relaunch()
            let billed = world.billed()
            let truth = try await world.truth()
            #expect(await world.shown() == Array(truth.prefix(5)))
            #expect(await world.feed.state.hasMore)
            try await world.feed.loadMore(10)
            #expect(await world.shown() == Array(truth.prefix(15)))
            #expect(await world.feed.state.hasMore)
            try await world.feed.loadAll()
            #expect(await world.shown() == truth)
            #expect(await !world.feed.state.hasMore)
            #expect(world.billed() == billed, "what is on disk costs no reads")
        }
    }

    @Test func `moves up items of the disk where shown ones go`() async throws {
        try await world(window: 3) { world in
            for index in 0..<6 { try await world.insert(age: Int64(index)) }
            world.wait(600)
            try await world.feed.sync()
            for id in ["m0", "m1"] { try await world.delete(id) }
            world.wait(600)
            try await world.feed.sync()
            #expect(
                await world.feed.items.map(\.id) == ["m2", "m3", "m4"].map { "messages/\($0)" })
            #expect(await world.feed.state.hasMore)
            try await world.delete("m5")
            world.wait(600)
            try await world.feed.sync()
            #expect(await !world.feed.state.hasMore, "the one below the window was deleted")
        }
    }

    @Test func `counts unread items below it`() async throws {
        try await world(window: 2) { world in
            for index in 0..<10 { try await world.insert(age: Int64(index * 10)) }
            try await world.delete("m1")
            try await world.delete("m6")
            try await world.delete("m7")
            try await world.restore("m7")
            world.wait(600)
            try await world.feed.sync()
            #expect(await world.feed.unreadCount == 8)
            let mark = Timestamp(seconds: world.now - 600 - 75, nanoseconds: 0)
            try await world.feed.markConsumed(through: mark)
            #expect(await world.feed.unreadCount == 6, "0, 2, 3, 4, 5, and 7, which was restored")
            try await world.relaunch()
            #expect(await world.feed.unreadCount == 6)
            try await world.feed.markConsumed()
            #expect(await world.feed.unreadCount == 0)
        }
    }

    @Test func `shows writes of this device, offline too`() async throws {
        try await world(window: 3) { world in
            for index in 0..<6 { try await world.insert(age: Int64(index)) }
            world.wait(600)
            try await world.feed.sync()
            await world.device.disableNetwork()
            let messages = world.device.collection("messages")
            _ = try await messages.document("mine").enqueueSetData([
                "createdAt": FieldValue.serverTimestamp(), "text": "mine",
            ])
            _ = try await messages.document("m5").enqueueSetData([
                "createdAt": Timestamp(seconds: world.now, nanoseconds: 0), "text": "moved",
            ])
            try await world.feed.open()
            #expect(
                await world.shown()
                    == ["messages/mine mine", "messages/m5 moved", "messages/m0 hello"])
            #expect(await world.feed.unreadCount == 7)
            try await world.feed.loadAll()
            #expect(await world.feed.items.count == 7)
            #expect(await Set(world.feed.items.map(\.id)).count == 7)
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `is after every sync what a reread would show`(seed: UInt64) async throws {
        try await world(window: 4, pageSize: seed.isMultiple(of: 2) ? 3 : 500) { world in
            var random = SeededRandom(seed: seed)
            var size = 4
            for _ in 0..<15 {
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    try await event(world, &random)
                }
                world.wait([10, 60, 4_000].randomElement(using: &random)!)
                if Int.random(in: 0..<5, using: &random) == 0 {
                    try await world.relaunch()
                    size = 4
                }
                try await world.feed.sync()
                try await check(world, size, seed)
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    try await world.feed.loadMore(3)
                    size += 3
                case 1: try await world.feed.markConsumed(through: anyTime(world, &random))
                case 2: try await world.feed.clear(through: anyTime(world, &random))
                case 3: try await world.feed.clear(throughMilliseconds: -1)
                default: continue
                }
                try await check(world, size, seed)
            }
        }
    }

    private func check(_ world: FeedWorld, _ size: Int, _ seed: UInt64) async throws {
        let state = await world.feed.state
        let reread = try await world.reread(window: size)
        try #require(state.items == reread.items, "seed \(seed)")
        #expect(state.hasMore == reread.hasMore, "seed \(seed)")
        #expect(state.unreadCount == reread.unreadCount, "seed \(seed)")
        let whole = try await world.reread(window: 10_000)
        #expect(state.texts == Array(whole.texts.prefix(size)), "seed \(seed)")
        #expect(state.hasMore == (whole.items.count > size), "seed \(seed)")
        let unread = whole.items.count(where: \.isUnread)
        #expect(state.unreadCount == unread, "seed \(seed)")
    }

    private func anyTime(_ world: FeedWorld, _ random: inout SeededRandom) -> Timestamp {
        Timestamp(seconds: world.now - .random(in: 0...5_000, using: &random), nanoseconds: 0)
    }

    private func event(_ world: FeedWorld, _ random: inout SeededRandom) async throws {
        let known = world.ids.randomElement(using: &random)
        switch (Int.random(in: 0..<12, using: &random), known) {
        case (0...1, let id?): try await world.edit(id, "edit \(world.now)")
        case (2...3, let id?): try await world.delete(id)
        case (4, let id?): try await world.restore(id)
        case (5, let id?):
            try await world.insert(age: .random(in: 0...9_000, using: &random), id: id)
        default: try await world.insert(age: .random(in: 0...5_000, using: &random))
        }
    }
}
