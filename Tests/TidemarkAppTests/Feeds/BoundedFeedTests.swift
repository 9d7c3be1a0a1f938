import Testing
import TestSupport
import Tidemark
import TidemarkApp

/// Feeds that hold the newest items alone, as an app sees them, with the server's meter.
@Suite(.timeLimit(.minutes(2))) struct `A bounded feed` {
    private func world(
        _ items: Int, window: Int = 20, limit: Int? = 100,
        _ body: (FeedWorld) async throws -> Void
    ) async throws {
        let world = try await FeedWorld(window: window, limit: limit)
        try await world.insert(many: items)
        world.wait(600)
        do { try await body(world) } catch {
            await world.end()
            throw error
        }
        await world.end()
    }

    @Test func `costs a new device one page, however long the chat is`() async throws {
        try await world(5_000) { world in
            let sync = try await world.feed.sync()
            #expect(sync.reads == 100 && world.billed() == 100)
            #expect(sync.plans.map(\.kind) == [.full])
            let truth = try await world.truth()
            #expect(await world.shown() == Array(truth.prefix(20)))
            #expect(await world.feed.state.hasMore)
            guard case .fresh = await world.feed.state.phase else {
                Issue.record("it is not fresh")
                return
            }
            // 80 more are held, and 50 are read.
            #expect(try await world.feed.loadMore(130).count == 150)
            #expect(world.billed() == 150)
            #expect(await world.shown() == Array(truth.prefix(150)))

            try await world.relaunch()
            #expect(try await world.feed.loadMore(130).count == 150, "they are held from then on")
            #expect(world.billed() == 150)
            #expect(try await world.feed.loadAll().count == 5_000)
            #expect(world.billed() == 5_000)
            #expect(await !world.feed.state.hasMore)
        }
    }

    @Test func `is billed for no more than it holds, and as much again, after a long absence`()
        async throws
    {
        try await world(1_000) { world in
            try await world.feed.sync()
            world.wait(30 * 86_400)
            for _ in 0..<3 { try await world.insert(many: 700) }
            world.wait(600)
            let before = world.billed()
            let sync = try await world.feed.sync()
            #expect(sync.plans.map(\.kind) == [.delta, .full])
            #expect(world.billed() - before == sync.reads && sync.reads <= 200)
            #expect(try await world.truth().prefix(20) == ArraySlice(await world.shown()))
        }
    }

    @Test func `refuses a limit of nothing, and shows no more than its limit at first`()
        async throws
    {
        try await world(30, window: 50, limit: 10) { world in
            var definition = world.definition
            definition.limit = 0
            #expect(throws: FirestoreError.self) { try Feed(definition) }
            try await world.feed.sync()
            #expect(await world.feed.items.count == 10)
        }
    }

    @Test func `a clear leaves nothing below to be read`() async throws {
        try await world(500) { world in
            try await world.feed.sync()
            let last = try #require(await world.feed.items.last)
            try await world.feed.clear(through: last.time)
            #expect(await world.feed.items.count == 19)
            #expect(await !world.feed.state.hasMore)
            let before = world.billed()
            #expect(try await world.feed.loadMore(10).count == 19)
            #expect(world.billed() == before)
        }
    }

    @Test func `stops at the reads of a push, and the next sync goes on`() async throws {
        try await world(1_000, limit: nil) { world in
            let sync = try await world.feed.sync(because: .push)
            #expect(sync.reads == 100 && sync.isCut && sync.readTime == nil)
            #expect(world.billed(label: "push") == 100)
            #expect(await world.feed.items.count == 20, "what has come is shown")
            guard case .stale = await world.feed.state.phase else {
                Issue.record("it says that it is fresh")
                return
            }
            let rest = try await world.feed.sync()
            #expect(!rest.isCut && rest.readTime != nil)
            #expect(try await world.feed.loadAll().count == 1_000)

            try await world.insert(id: "new")
            let small = try await world.feed.sync(because: .push)
            #expect(!small.isCut && small.reads <= 2)
            #expect(await world.shown().first == "messages/new hello")
        }
    }

    @MainActor
    @Test func `a model marks as consumed what it shows, when it is told to`() async throws {
        let world = try await FeedWorld()
        try await world.insert(id: "a")
        let model = FeedModel(try TypedFeed(of: Message.self, world.definition))
        try await until("the model has items") { !model.items.isEmpty }
        #expect(model.unreadCount == 1, "it is off by default")
        model.consumesWhatIsShown = true
        try await until("nothing is unread") { model.unreadCount == 0 }
        world.wait(10)
        try await world.insert(id: "b")
        try await until("2 items are there, and all are read") {
            model.items.count >= 2 && model.unreadCount == 0
        }
        model.consumesWhatIsShown = false
        world.wait(10)
        try await world.insert(id: "c")
        try await until("3 items are there") { model.items.count >= 3 }
        #expect(model.unreadCount == 1)
        await world.end()
    }

    private struct Message: Decodable {
        let text: String
    }
}
