import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// The cache is kept within its size, and data in use is kept.
struct GarbageTests {
    private static let kilobyte: MapValue = ["text": .string(String(repeating: "x", count: 1000))]

    private func docs(_ collection: String, _ range: Range<Int>) -> [Document] {
        range.map { number in
            doc("\(collection)/\(1_000_000 + number)", 10, Self.kilobyte)
        }
    }

    /// Listens to a whole collection of `count` documents, then stops.
    private func visit(_ world: Harness, _ collection: String, _ count: Int) {
        let listener = world.listen(Query(collectionID: collection))
        world.answer(world.added.last!.id, docs(collection, 0..<count), at: 20)
        listener.handle?.cancel()
        world.run()
    }

    private func held(_ world: Harness, _ collection: String) throws -> Int {
        try world.engine.core.local.documents.run(Query(collectionID: collection)).count
    }

    @Test func `a cache that grew too large loses what was used the longest ago`() throws {
        let world = try Harness(cacheSize: 2 << 20)
        for name in ["a", "b", "c", "d"] { visit(world, name, 1000) }
        let size = try world.engine.core.local.garbage.usedBytes()
        #expect(size > 4 << 20)
        world.scheduler.advance(by: .seconds(59))
        #expect(try held(world, "a") == 1000)
        world.scheduler.advance(by: .seconds(10))
        #expect(try world.engine.core.local.garbage.usedBytes() <= 2 << 20)
        #expect(try held(world, "a") == 0)
        #expect(try held(world, "b") == 0)
        #expect(try held(world, "d") == 1000)
        // The cache is small enough now, so nothing more is deleted.
        let left = try held(world, "c")
        world.scheduler.advance(by: .seconds(3600))
        #expect(try held(world, "c") == left)
    }

    @Test func `what is listened to, waits to be sent or is a feed's stays`() throws {
        let world = try Harness(cacheSize: 1 << 20)
        let fetched = Events<Result<ReadResult, SyncError>>()
        world.engine.fetch(
            Query(collectionID: "feed"), deadline: nil, records: { _, _ in ["feed": [1]] }
        ) { fetched.record($0) }
        world.run()
        let replies = docs("feed", 0..<500).map {
            Reply.runQuery(RunQueryReply(document: $0, readTime: at(20)))
        }
        for reply in replies { world.transport.calls.last?.reply(reply, ends: false) }
        world.transport.calls.last?.end()
        world.run()
        #expect(fetched.all.count == 1)
        visit(world, "old", 500)
        let listener = world.listen(Query(collectionID: "live"))
        world.answer(world.added.last!.id, docs("live", 0..<500), at: 30)
        let written = docs("old", 3..<4)[0].path
        _ = world.write(Mutation(path: written, .patch(["n": .integer(1)], mask: [field("n")])))
        world.scheduler.advance(by: .seconds(120))
        #expect(try held(world, "feed") == 500)
        #expect(try held(world, "live") == 500)
        #expect(try held(world, "old") == 1)
        let document = try world.engine.core.local.documents.document(at: written)
        #expect(document.contents.decoded.count == 2)
        #expect(listener.take().count == 1)
    }

    @Test func `documents that were read go too, and with them the claim to hold a query's result`()
        throws
    {
        let world = try Harness()
        let query = Query(collectionID: "read")
        let read = world.read(query, source: .server)
        for document in docs("read", 0..<50) {
            world.transport.calls.last?.reply(
                .runQuery(RunQueryReply(document: document, readTime: at(20))), ends: false)
        }
        world.transport.calls.last?.end()
        world.run()
        #expect(try read.all.first?.get().documents.count == 50)
        let done = Events<SyncError?>()
        world.engine.collectGarbage(limit: 1, percent: 100) { done.record($0) }
        world.run()
        #expect(done.all == [nil])
        let cached = try #require(world.read(query, source: .cache).all.first).get()
        #expect(cached.documents.isEmpty && !cached.isKnown)
    }

    @Test func `a collection cut off half way leaves no half of a result`() throws {
        let file = TemporaryFile()
        var world = try Harness(cacheFile: file.path)
        visit(world, "a", 1000)
        let local = world.engine.core.local
        let bound = try #require(try local.garbage.bound(percent: 100, most: 1000))
        let step = try local.garbage.collect(upTo: bound, limit: 100) { _ in false }
        #expect(step == CollectedGarbage(targets: 1, documents: 100, isDone: false))
        try local.store.close()
        world = try Harness(cacheFile: file.path)
        let listener = world.listen(Query(collectionID: "a"))
        // The target starts from scratch and has a new number.
        #expect(world.added.map(\.resume) == [.fromScratch])
        #expect(world.engine.core.listenedQueries.first?.targetID == 4)
        listener.handle?.cancel()
        world.run()
        world.engine.collectGarbage(limit: 1, percent: 100) { _ in }
        world.run()
        #expect(try held(world, "a") == 0)
    }

    /// A write for each listen was most of the work of a small listen.
    @Test func `a listener that the cache answers writes nothing; others write its use`() throws {
        let file = TemporaryFile()
        var world = try Harness(cacheFile: file.path)
        visit(world, "a", 10)
        visit(world, "b", 10)
        #expect(try used(world, "a") < used(world, "b"))
        let pages = world.engine.core.local.store.pagesInLog
        for name in ["nobody listened to this", "b", "a", "nobody listened to this"] {
            try look(world, name)
        }
        #expect(world.engine.core.local.store.pagesInLog == pages)
        #expect(try used(world, "a") < used(world, "b"))
        try world.engine.core.local.probe()
        #expect(try used(world, "b") < used(world, "a"))
        #expect(try used(world, "a") < used(world, "nobody listened to this"))
        try look(world, "b")
        // Closing the cache writes the uses too.
        world.engine.terminate {}
        world.run()
        world = try Harness(cacheFile: file.path)
        #expect(try used(world, "nobody listened to this") < used(world, "b"))
    }

    @Test func `targets whose use waits for a write are few, and survive one that fails`() throws {
        let world = try Harness()
        let local = world.engine.core.local
        for number in 0..<60 { try look(world, "a\(number)") }
        #expect((1...50).contains(local.targets.released.count))
        let waiting = local.targets.released.mapValues(\.target)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try local.write(.probe) { _ in throw Stop() } }
        #expect(local.targets.released.mapValues(\.target) == waiting)
        try local.probe()
        #expect(local.targets.released.isEmpty)
        let uses = try (0..<60).map { try used(world, "a\($0)") }
        #expect(uses == uses.sorted() && Set(uses).count == 60)
    }

    private func look(_ world: Harness, _ name: String) throws {
        let listener = world.listen(Query(collectionID: name), source: .cache)
        _ = try listener.snapshot()
        listener.handle?.cancel()
        world.run()
    }

    /// Returns the sequence number of the query's last use, as stored on disk.
    private func used(_ world: Harness, _ name: String) throws -> Int64 {
        try world.engine.core.local.store.read { transaction in
            let rows = try transaction.rows(
                "SELECT sequence FROM syncTarget WHERE canonical = ?",
                [.blob(QueryKey(Query(collectionID: name)).bytes)])
            return try #require(rows.first).integer(0)
        }
    }

    @Test func `a cache without a bound is let be`() throws {
        let world = try Harness(cacheSize: nil)
        #expect(!world.scheduler.pendingTimers.contains(.garbageCollection))
    }
}
