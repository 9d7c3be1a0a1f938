import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

/// A failing disk is a state that the engine can leave.
struct StorageTests {
    private func states(of world: Harness) -> Events<StorageState> {
        let states = Events<StorageState>()
        _ = world.engine.observeStorage { states.record($0) }
        world.run()
        return states
    }

    @Test func `a write that cannot be journalled fails with the reason, and is not shown`() throws
    {
        let world = try Harness()
        let listener = world.listen(rooms(), source: .cache)
        _ = listener.take()
        world.disk.fail([.writeLocally])
        let events = world.write(set("rooms/a", [:]))
        #expect(events.all == [.failed(.storage(.full))])
        #expect(world.transport.writes.isEmpty)
        #expect(listener.take().isEmpty)
        world.disk.recover()
        #expect(world.write(set("rooms/b", [:])).all == [.journalled(batch: 1)])
        #expect(try listener.snapshot().ids == ["b"])
    }

    @Test func `the app sees the storage fail, and come back by itself`() throws {
        let world = try Harness()
        let states = states(of: world)
        #expect(states.all == [.available])
        world.disk.fail([.writeLocally, .probe])
        _ = world.write(set("rooms/a", [:]))
        _ = world.write(set("rooms/a", [:]))
        #expect(states.all == [.available, .failing(.full)])
        // Reads are still served.
        let read = world.read(path("rooms/a"), source: .cache)
        #expect(read.all == [.failure(.notInCache(reason: .askedForCache))])
        world.scheduler.advance(by: .seconds(10))
        #expect(states.all == [.available, .failing(.full)])
        world.disk.recover()
        world.scheduler.advance(by: .seconds(90))
        #expect(states.all == [.available, .failing(.full), .available])
        #expect(!world.scheduler.pendingTimers.contains(.storageRetry))
    }

    @Test func `a storage that goes on failing is not asked all the time`() throws {
        let world = try Harness()
        world.disk.fail([.writeLocally, .probe])
        _ = world.write(set("rooms/a", [:]))
        world.scheduler.advance(by: .seconds(3600))
        #expect((60...75).contains(world.disk.failures), "\(world.disk.failures)")
    }

    @Test func `reads and listens say that the store failed`() throws {
        let world = try Harness()
        try world.engine.core.local.store.close()
        guard case .failure(.storage)? = world.read(path("rooms/a"), source: .cache).all.first
        else { throw Unexpected() }
        guard case .failure(.storage)? = world.listen(rooms()).take().first else {
            throw Unexpected()
        }
    }

    /// Returns a listener whose second snapshot cannot be stored.
    private func brokenWhileListening() throws -> (Harness, Listener) {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10)], at: 20, token: [1])
        _ = listener.take()
        world.disk.fail([.applyRemoteEvent, .probe])
        world.push(.documentChange(DocumentChange(doc("rooms/b", 25), targetIDs: [id])))
        world.snapshot(30)
        return (world, listener)
    }

    @Test func `a snapshot that cannot be stored stops the stream and is tried again`() throws {
        let (world, listener) = try brokenWhileListening()
        #expect(world.stream.isEnded)
        #expect(try listener.snapshot().isFromCache)
        world.scheduler.fire(.storageRetry)
        #expect(world.transport.listens.count == 1)
        world.disk.recover()
        world.scheduler.fire(.storageRetry)
        #expect(world.transport.listens.count == 2)
        #expect(world.added[0].resume == .token([1]))
    }

    /// An unlocked device can access its files again, so the engine must not wait for a delay of a
    /// minute.
    @Test func `the app's word that all may be well again is taken at once`() throws {
        let (world, _) = try brokenWhileListening()
        world.engine.networkMayBeBack()
        world.run()
        #expect(world.transport.listens.count == 1, "it still cannot be stored")
        #expect(world.scheduler.pendingTimers.contains(.storageRetry))
        world.disk.recover()
        world.engine.networkMayBeBack()
        world.run()
        #expect(world.transport.listens.count == 2)
        #expect(!world.scheduler.pendingTimers.contains(.storageRetry))
    }

    @Test func `an acknowledgement that cannot be stored is kept, and nothing is sent twice`()
        throws
    {
        let world = try Harness()
        let events = world.write(set("rooms/a", [:]))
        world.shakeHands()
        world.disk.fail([.acknowledgeBatch, .probe])
        world.acknowledge(at: 30)
        #expect(events.all == [.journalled(batch: 1)])
        for _ in 0..<3 { world.scheduler.fire(.storageRetry) }
        #expect(world.transport.writes.count == 1)
        #expect(world.engine.core.unstoredBatch == 1)
        world.disk.recover()
        world.scheduler.fire(.storageRetry)
        #expect(events.all == [.journalled(batch: 1), .acknowledged(commitTime: at(30))])
        #expect(world.transport.writes.count == 1)
    }

    /// Limits SQLite's file to `pages` pages more than it has.
    private func limit(_ world: Harness, pages: Int64) throws {
        try world.engine.core.local.store.write { transaction in
            let count = try transaction.rows("PRAGMA page_count")[0].integer(0)
            _ = try transaction.rows("PRAGMA max_page_count = \(count + pages)")
        }
    }

    @Test func `a disk that is really full loses nothing, and takes up again when there is room`()
        throws
    {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        let states = states(of: world)
        let listener = world.listen(rooms(), metadata: true)
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10)], at: 20, token: [1])
        let small = world.write(set("rooms/w", [:]))
        _ = listener.take()
        try limit(world, pages: 2)
        let text = MapValue([("text", .string(String(repeating: "x", count: 500_000)))])
        #expect(world.write(set("rooms/big", text)).all == [.failed(.storage(.full))])
        #expect(states.all.last == .failing(.full))
        #expect(world.read(path("rooms/a"), source: .cache).all.count == 1)
        world.push(.documentChange(DocumentChange(doc("rooms/b", 25, text), targetIDs: [id])))
        world.snapshot(30)
        #expect(world.stream.isEnded)
        #expect(listener.take().count == 1)
        try limit(world, pages: 1_000_000)
        world.scheduler.advance(by: .seconds(5))
        #expect(states.all.last == .available)
        #expect(world.added.map(\.resume) == [.token([1])])
        let again = world.added[0].id
        world.push(.targetChange(TargetChange(.add, targetIDs: [again])))
        world.push(.documentChange(DocumentChange(doc("rooms/b", 25, text), targetIDs: [again])))
        world.snapshot(30)
        #expect(try listener.snapshot().ids == ["a", "b", "w"])
        #expect(world.write(set("rooms/big", text)).all == [.journalled(batch: 2)])
        #expect(small.all == [.journalled(batch: 1)])
        world.shakeHands()
        #expect(world.writeStream.sent.filter { !$0.mutations.isEmpty }.count == 2)
    }

    @Test func `a file that is no database is set aside, and a new one made`() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("."), withIntermediateDirectories: true)
        let file = folder.file("cache.sqlite")
        let text = String(repeating: "this is no database. ", count: 100)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let world = try Harness(cacheFile: file)
        #expect(world.write(set("rooms/a", [:])).all == [.journalled(batch: 1)])
        let aside = try Data(contentsOf: URL(fileURLWithPath: file + ".damaged"))
        #expect(aside == Data(text.utf8))
    }

    @Test func `a cache found damaged is made anew, with the writes that wait in it`() throws {
        let folder = TemporaryFolder()
        let file = folder.file("cache.sqlite")
        var world = try Harness(cacheFile: file, user: "ann")
        _ = world.write(set("rooms/a", ["n": .integer(1)]))
        _ = world.write(set("rooms/b", [:]))
        world.shakeHands()
        world.writeStream.end(RPCStatus(.permissionDenied, "no"))
        world.run()
        try world.engine.core.local.store.close()
        let disk = FaultyDisk<StorageStep>()
        disk.fail([.open], with: .corrupt(detail: "a page"), times: 1)
        world = try Harness(cacheFile: file, disk: disk, user: "ann")
        #expect(disk.failures == 1)
        let local = world.engine.core.local
        #expect(local.queue.pending.batches.map(\.mutations) == [[set("rooms/b", [:])]])
        #expect(local.queue.pending.batches.map(\.id) == [2])
        #expect(try local.queue.rejectedWrites().map(\.batch) == [1])
        // Batch numbers are never used twice.
        #expect(world.write(set("rooms/c", [:])).all == [.journalled(batch: 3)])
    }

    @Test func `a cache that turns out damaged is made anew while the app runs`() throws {
        let folder = TemporaryFolder()
        let world = try Harness(cacheFile: folder.file("cache.sqlite"))
        let states = states(of: world)
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20, token: [1])
        let events = world.write(set("rooms/w", [:]))
        world.shakeHands()
        _ = listener.take()
        world.disk.fail([.applyRemoteEvent], with: .corrupt(detail: "a page"), times: 1)
        world.push(
            .documentChange(DocumentChange(doc("rooms/b", 25), targetIDs: [world.added[0].id])))
        world.snapshot(30)
        #expect(states.all.last == .failing(.damaged(detail: "a page")))
        _ = listener.take()
        world.scheduler.fire(.storageRetry)
        #expect(states.all.last == .available)
        let event = try listener.snapshot()
        #expect(event.ids == ["w"] && event.isFromCache)
        #expect(world.added.map(\.resume) == [.fromScratch])
        world.answer(world.added[0].id, [doc("rooms/a", 10), doc("rooms/b", 25)], at: 40)
        #expect(try listener.snapshot().ids == ["a", "b", "w"])
        world.shakeHands()
        #expect(world.writeStream.sent.last?.mutations == [set("rooms/w", [:])])
        world.acknowledge(at: 50)
        #expect(events.all == [.journalled(batch: 1), .acknowledged(commitTime: at(50))])
    }

    @Test func `pending writes survive their own encoding, all kinds`() throws {
        let mutations = [
            Mutation(path: path("a/b"), .set(["x": .vector(VectorValue([1, 2]))])),
            Mutation(
                path: path("a/b"), .patch(["x": .null], mask: [field("x"), field("y z")]),
                precondition: .exists(true)),
            Mutation(path: path("a/b"), .delete, precondition: .updateTime(at(5))),
            Mutation(path: path("a/b"), .verify, precondition: .exists(false)),
            Mutation(
                path: path("a/b"), .set([:]),
                transforms: [
                    FieldTransform(field("a"), .serverTimestamp),
                    FieldTransform(field("b"), .increment(.double(1.5))),
                    FieldTransform(field("c"), .maximum(.integer(3))),
                    FieldTransform(field("d"), .minimum(.integer(3))),
                    FieldTransform(field("e"), .arrayUnion([.integer(1), .string("x")])),
                    FieldTransform(field("f"), .arrayRemove([])),
                ]),
        ]
        let bytes = MutationCodec.encode(mutations)
        #expect(try MutationCodec.decode(bytes) == mutations)
        for length in 0..<bytes.count {
            #expect(throws: DamagedRecord.self) {
                try MutationCodec.decode(Array(bytes.prefix(length)))
            }
        }
    }
}
