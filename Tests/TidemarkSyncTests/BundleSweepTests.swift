import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// A bundle that did not arrive completely: its documents stay in the cache, and its targets are
/// deleted.
struct BundleSweepTests {
    private func begin(_ world: Harness, documents: Int) throws -> BundleLoad {
        let loads = Events<Result<BundleLoad?, SyncError>>()
        world.engine.beginBundle("b", createTime: at(5)) { loads.record($0) }
        world.run()
        let load = try #require(try loads.all[0].get())
        let rows = (0..<documents).map { index in
            let document = doc("rooms/\(index)", 10)
            return BundledDocument(
                path: document.path, document: document, readTime: at(20), queries: ["q"])
        }
        world.engine.store(rows, of: load) { _ in }
        world.run()
        return load
    }

    private func rows(_ world: Harness) throws -> [Int64] {
        try ["syncTargetRow", "syncCondemned"].map { table in
            try world.engine.core.local.read { transaction in
                try transaction.rows("SELECT count(*) FROM \(table)")[0].integer(0)
            }
        }
    }

    @Test func `what is left of a bundle goes by itself, in a cache of any size`() throws {
        let world = try Harness(cacheSize: nil)
        let load = try begin(world, documents: 500)
        #expect(try rows(world) == [1_000, 2])
        world.scheduler.advance(by: .seconds(120))
        #expect(try rows(world) == [1_000, 2], "it is still being loaded")
        world.engine.abandon(load)
        world.scheduler.advance(by: .seconds(120))
        #expect(try rows(world) == [0, 0])
        #expect(try world.read(rooms(), source: .cache).all[0].get().documents.count == 500)
    }

    @Test func `what a kill left goes after the next launch`() throws {
        let file = TemporaryFile()
        var world: Harness? = try Harness(cacheFile: file.path, cacheSize: nil)
        _ = try begin(world!, documents: 10)
        world = nil
        world = try Harness(cacheFile: file.path, cacheSize: nil)
        #expect(try rows(world!) == [20, 2])
        world!.scheduler.advance(by: .seconds(61))
        #expect(try rows(world!) == [0, 0])
        #expect(try world!.read(rooms(), source: .cache).all[0].get().documents.count == 10)
    }
}
