import Testing
import TestSupport
import Tidemark
import TidemarkApp

/// Tests feeds that hold only the newest items, through the public API and with the server's meter.
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
            // The device already holds 80 of these 130 items, and reads 50.
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

    @Test func `counts the changes of a long absence, and reads no more than it holds`()
        async throws
    {
        try await world(1_000) { world in
            try await world.feed.sync()
            world.wait(30 * 86_400)
            for _ in 0..<3 { try await world.insert(many: 700) }
            world.wait(600)
            let before = world.billed()
            #expect(await world.feed.plan.kind == .count)
            let sync = try await world.feed.sync()
            #expect(sync.plans.map(\.kind) == [.count, .full])
            #expect(world.billed() - before == sync.reads && sync.reads == 101)
            #expect(try await world.truth().prefix(20) == ArraySlice(await world.shown()))
        }
    }

    /// After one night the feed does not count, because a count costs one more read and most nights
    /// bring few changes.
    @Test func `reads as many changes as it holds before it reads its newest items anew`()
        async throws
    {
        try await world(1_000) { world in
            try await world.feed.sync()
            world.wait(86_400)
            for _ in 0..<3 { try await world.insert(many: 700) }
            world.wait(600)
            let before = world.billed()
            let sync = try await world.feed.sync()
            #expect(sync.plans.map(\.kind) == [.delta, .full])
            #expect(world.billed() - before == sync.reads && sync.reads == 200)
            #expect(try await world.truth().prefix(20) == ArraySlice(await world.shown()))
        }
    }

    /// Returns after the server has answered the feed's listener and the feed is fresh.
    private func comeLive(_ world: FeedWorld) async throws {
        await world.feed.startListening()
        let feed = world.feed
        try await until("the feed is live") {
            guard case .fresh = await feed.state.phase else { return false }
            return await feed.isLive
        }
    }

    /// The transport holds all calls. The feed needs only the first answer of the listen stream.
    @Test func `comes live in one round trip, and pays for what changed alone`() async throws {
        try await world(50, limit: nil) { world in
            try await world.feed.sync()
            world.wait(3_600)
            for _ in 0..<5 { try await world.insert() }
            world.wait(600)
            let held = HeldTransport(world.server)
            held.hold()
            try await world.relaunch(through: held)
            let before = world.billed()
            let sync = try await world.feed.comeLive()
            #expect(sync.plans.isEmpty && sync.readTime != nil)
            #expect(world.billed() - before == 5)
            #expect(try await world.truth().prefix(20) == ArraySlice(await world.shown()))
            guard case .fresh = await world.feed.state.phase else {
                Issue.record("it is not fresh")
                return
            }
        }
    }

    /// - Parameters:
    ///   - new: The number of items written during the absence.
    ///   - reads: The number of reads of the feed until it listens.
    ///   - turnedBack: The number of seconds by which the device's clock is turned back.
    @Test(arguments: [
        (new: 800, reads: 101, turnedBack: 0), (new: 101, reads: 101, turnedBack: 0),
        // The count costs one read in addition to the changes.
        (new: 99, reads: 100, turnedBack: 0), (new: 5, reads: 6, turnedBack: 0),
        (new: 0, reads: 2, turnedBack: 0),
        // The device's clock shows no absence, so the feed first reads as many changes as it holds.
        (new: 800, reads: 200, turnedBack: 31 * 86_400),
        (new: 5, reads: 5, turnedBack: 31 * 86_400),
    ])
    func `that listens after a month pays its limit and one`(
        new: Int, reads: Int, turnedBack: Int64
    ) async throws {
        try await world(1_000) { world in
            try await comeLive(world)
            await world.feed.stopListening()
            world.wait(30 * 86_400)
            // The ten minutes of the overlap contain no new item, so no item is read twice.
            if new > 0 { try await world.insert(many: new) }
            world.wait(600)
            try await world.relaunch(clockBehind: turnedBack)
            let before = world.billed()
            try await comeLive(world)
            #expect(world.billed() - before == reads)
            #expect(try await world.truth().prefix(20) == ArraySlice(await world.shown()))
            #expect(try await world.feed.loadMore(80).count == 100)
            #expect(world.billed() - before == reads, "the newest are held")
            #expect(try await world.truth().prefix(100) == ArraySlice(await world.shown()))
            try await world.insert(id: "live")
            let truth = try await world.truth()
            let feed = world.feed
            try await until("the new item is shown") {
                await feed.state.texts == Array(truth.prefix(100))
            }
            // A listener with 99 changes is full after one more. The next listener sends the
            // changes of its overlap again: two, after the new item is shown.
            let expected = reads + (new == 99 ? 3 : 1)
            try await until("the changes are billed") { world.billed() - before >= expected }
            #expect(world.billed() - before == expected)
        }
    }

    /// The page of the newest items contains the items of the last minutes, but no edit of an older
    /// item. After such an edit, the server has four changes in the overlap and the device has
    /// three, so the server sends all four.
    @Test(arguments: [(edits: 0, reads: 101), (edits: 1, reads: 105)])
    func `that listens after a month pays once for what came in the last minutes`(
        edits: Int, reads: Int
    ) async throws {
        try await world(1_000) { world in
            try await comeLive(world)
            await world.feed.stopListening()
            world.wait(30 * 86_400)
            try await world.insert(many: 300)
            world.wait(600)
            for _ in 0..<3 { try await world.insert() }
            for number in 0..<edits { try await world.edit("n\(500 + number)", "edited") }
            try await world.relaunch()
            let before = world.billed()
            try await comeLive(world)
            #expect(world.billed() - before == reads)
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
