import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// An index is built after the query that needs it, when the engine is idle.
struct IndexTests {
    private let query = rooms { query in
        query.filter = .field(field("floor"), .equal, .integer(3))
        query.limit = .first(5)
    }

    private func plan(_ world: Harness) throws -> String {
        try world.engine.core.local.store.read {
            try $0.documents(of: Harness.database).explain(query)
        }
    }

    private func fill(_ world: Harness) throws {
        let documents = (0..<1_000).map {
            RemoteDocument.found(doc("rooms/\($0)", 10, ["floor": .integer(Int64($0 % 100))]))
        }
        _ = try world.engine.core.local.remote.apply(documents, readTime: at(20))
    }

    @Test func `a slow query is answered first and gets its index later, slice by slice`() throws {
        let world = try Harness()
        try fill(world)
        #expect(!world.scheduler.pendingTimers.contains(.indexBuilding))
        let slow = try #require(try world.read(query, source: .cache).all.first?.get())
        #expect(slow.documents.count == 5)
        #expect(try plan(world).hasPrefix("collection"))
        var slices = 0
        while world.scheduler.fire(.indexBuilding) {
            slices += 1
            try #require(slices < 100)
        }
        #expect(slices > 1)
        #expect(try plan(world).hasPrefix("index floor"))
        let quick = try #require(try world.read(query, source: .cache).all.first?.get())
        #expect(quick.ids == slow.ids)
        #expect(!world.scheduler.pendingTimers.contains(.indexBuilding))
    }

    @Test func `an index that was left half made is finished by the next client`() throws {
        let file = TemporaryFile()
        let first = try Harness(cacheFile: file.path)
        try fill(first)
        _ = first.read(query, source: .cache)
        #expect(first.scheduler.fire(.indexBuilding))
        first.terminate()
        let second = try Harness(cacheFile: file.path)
        #expect(try plan(second).hasPrefix("collection"))
        second.scheduler.advance(by: .seconds(10))
        #expect(try plan(second).hasPrefix("index floor"))
    }
}
