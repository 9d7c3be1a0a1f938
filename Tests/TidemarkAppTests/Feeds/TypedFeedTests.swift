import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkTesting

@testable import TidemarkApp

@Suite(.timeLimit(.minutes(2))) struct `A typed feed` {
    struct Message: Decodable, Sendable, Equatable { var text: String }

    private func world(_ body: (FeedWorld) async throws -> Void) async throws {
        let world = try await FeedWorld()
        do { try await body(world) } catch {
            await world.end()
            throw error
        }
        await world.end()
    }

    @Test func `decodes its items, and tells of those that it cannot`() async throws {
        try await world { world in
            try await world.insert(age: 5, id: "a")
            try await world.insertUndecodable("broken")
            world.wait(600)
            try await world.feed.sync()
            let typed = TypedFeed(of: Message.self, world.feed)
            for await state in typed.states {
                #expect(state.items.map(\.value) == [Message(text: "hello")])
                #expect(state.undecodable.map(\.id) == ["messages/broken"])
                #expect(state.undecodable.first?.reason.contains("text") == true)
                #expect(state.unreadCount == 2)
                break
            }
        }
    }

    @Test func `is live: from disk, what changed, and what comes`() async throws {
        try await world { world in
            for age in 1..<4 { try await world.insert(age: Int64(age)) }
            world.wait(600)
            let typed = try TypedFeed(of: Message.self, world.definition)
            try await typed.start()
            var diffs = typed.diffs.makeAsyncIterator()
            var shown: [String] = []
            func waitFor(_ count: Int) async {
                while shown.count != count, let diff = await diffs.next() {
                    shown = diff.applied(to: shown)
                    #expect(shown == diff.state.items.map(\.id))
                }
            }
            await waitFor(3)
            let billed = world.billed()
            try await world.insert(id: "new")
            await waitFor(4)
            #expect(shown.first == "messages/new")
            #expect(
                world.billed() - billed <= 2, "one for it, and one where the listen opened late")
            try await world.delete("new")
            await waitFor(3)
            try await typed.clear()
            await waitFor(0)
            await typed.feed.stopListening()
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `is live for a read a change, also after more changes than a listener shows`() async throws
    {
        let world = try await FeedWorld(window: 1_000)
        try await world.insert(id: "a")
        world.wait(600)
        try await world.feed.sync()
        world.wait(86_400)
        try await world.insert(many: 800)
        world.wait(600)
        let billed = world.billed()
        let typed = try TypedFeed(of: Message.self, world.definition)
        try await typed.start()
        for await state in typed.states {
            if state.items.count == 801, case .fresh = state.phase { break }
        }
        // The listener that starts again and finds nothing costs one read, if it has answered
        // already.
        #expect((800...801).contains(world.billed() - billed), "\(world.billed() - billed)")
        #expect(try await typed.feed.state.texts == world.truth())
        await typed.feed.stopListening()
        await world.end()
    }

    @MainActor
    @Test func `has a model for views`() async throws {
        let world = try await FeedWorld()
        try await world.insert(id: "a")
        let model = FeedModel(try TypedFeed(of: Message.self, world.definition))
        #expect(model.phase == .loading)
        try await until("the model has items") { !model.items.isEmpty }
        #expect(model.items.map(\.value.text) == ["hello"])
        #expect(model.unreadCount == 1)
        try await model.clear()
        #expect(model.items.isEmpty)
        await world.end()
    }

    /// The model used to show new rows a moment after its call had ended. A list that immediately
    /// asked again then requested more rows than its user needed.
    @MainActor
    @Test func `has a model that shows what came when its call ends`() async throws {
        let world = try await FeedWorld(window: 10)
        try await world.insert(many: 200)
        let model = FeedModel(
            try TypedFeed(of: Message.self, world.definition), isLive: false)
        await model.refresh()
        guard case .fresh = model.phase else {
            Issue.record("\(model.phase)")
            return
        }
        #expect(model.items.count == 10)
        for count in stride(from: 20, through: 100, by: 10) {
            try await model.loadMore(10)
            #expect(model.items.count == count)
        }
        try await model.clear()
        #expect(model.items.isEmpty)
        await world.end()
    }
}

struct `Differences of lists` {
    @Test(arguments: UInt64(0)..<200)
    func `make one list of another, with as few moves as there can be`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func list() -> [String] {
            (0..<12).map(String.init).shuffled(using: &random)
                .prefix(Int.random(in: 0...12, using: &random)).map { $0 }
        }
        let (old, new) = (list(), list())
        let difference = ListDifference(from: old, to: new, isUpdated: { _, _ in false })
        #expect(difference.applied(to: old, now: new) == new, "seed \(seed)")
        // Computes the largest possible number of unmoved items with a simple, slow algorithm.
        let places = new.compactMap { old.firstIndex(of: $0) }
        var longest = [Int](repeating: 1, count: places.count)
        for i in places.indices {
            for j in 0..<i where places[j] < places[i] {
                longest[i] = max(longest[i], longest[j] + 1)
            }
        }
        #expect(difference.moved.count == places.count - (longest.max() ?? 0), "seed \(seed)")
    }
}

extension ListDifference {
    /// Applies the difference as a list view does.
    func applied(to old: [String], now: [String]) -> [String] {
        var list = old
        for index in (removed + moved.map(\.from)).sorted(by: >) { list.remove(at: index) }
        for index in (inserted + moved.map(\.to)).sorted() { list.insert(now[index], at: index) }
        return list
    }
}

extension FeedDiff {
    func applied(to old: [String]) -> [String] {
        var list = old
        let now = state.items.map(\.id)
        for index in (removed + moved.map(\.from)).sorted(by: >) { list.remove(at: index) }
        for index in (inserted + moved.map(\.to)).sorted() { list.insert(now[index], at: index) }
        return list
    }
}
