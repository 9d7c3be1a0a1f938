import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// A disk that fails is a state with a way out.
@Suite struct StorageTests {
    private func broken() throws -> Harness {
        let world = try Harness()
        try world.engine.core.local.store.close()
        return world
    }

    @Test func `a write that cannot be journalled fails, and is not shown`() throws {
        let world = try broken()
        let events = world.write(set("rooms/a", [:]))
        #expect(events.all.count == 1)
        guard case .failed(.storage)? = events.all.first else { throw Unexpected() }
        #expect(world.transport.writes.isEmpty)
    }

    @Test func `reads and listens say that the store failed`() throws {
        let world = try broken()
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
        try world.engine.core.local.store.close()
        world.push(.documentChange(DocumentChange(doc("rooms/b", 25), targetIDs: [id])))
        world.snapshot(30)
        #expect(world.stream.isEnded)
        #expect(try listener.snapshot().isFromCache)
        #expect(world.scheduler.pendingTimers.contains(.storageRetry))
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
        try world.engine.core.local.store.close()
        world.acknowledge(at: 30)
        #expect(events.all == [.journalled(batch: 1)])
        for _ in 0..<3 { world.scheduler.fire(.storageRetry) }
        #expect(world.transport.writes.count == 1)
        #expect(world.engine.core.unstoredOutcome?.batch.id == 1)
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
