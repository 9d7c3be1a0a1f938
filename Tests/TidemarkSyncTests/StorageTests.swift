import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// A disk that fails is a state with a way out.
@Suite struct StorageTests {
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
        // Reads are served all the while.
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

    @Test func `a snapshot that cannot be stored stops the stream and is tried again`() throws {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        let id = world.added[0].id
        world.answer(id, [doc("rooms/a", 10)], at: 20, token: [1])
        _ = listener.take()
        world.disk.fail([.applyRemoteEvent, .probe])
        world.push(.documentChange(DocumentChange(doc("rooms/b", 25), targetIDs: [id])))
        world.snapshot(30)
        #expect(world.stream.isEnded)
        #expect(try listener.snapshot().isFromCache)
        world.scheduler.fire(.storageRetry)
        #expect(world.transport.listens.count == 1)
        world.disk.recover()
        world.scheduler.fire(.storageRetry)
        #expect(world.transport.listens.count == 2)
        #expect(world.added[0].resume == .token([1]))
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
        #expect(world.engine.core.unstoredOutcome?.batch.id == 1)
        world.disk.recover()
        world.scheduler.fire(.storageRetry)
        #expect(events.all == [.journalled(batch: 1), .acknowledged(commitTime: at(30))])
        #expect(world.transport.writes.count == 1)
    }

    @Test func `a file that is no database is refused with a reason`() throws {
        let file = TemporaryFile()
        let handle = try #require(fopen(file.path, "w"))
        fputs(String(repeating: "this is no database. ", count: 100), handle)
        fclose(handle)
        #expect(throws: SyncError.self) { try Harness(cacheFile: file.path) }
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
