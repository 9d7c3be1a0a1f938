import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

/// A batch that another store held. The engine queues it once, and records its mark in the same
/// transaction.
struct MovedBatchTests {
    private func take(
        _ world: Harness, _ mark: String, _ user: String? = "ann", document: String = "rooms/a"
    ) -> Result<Int64?, SyncError>? {
        let events = Events<Result<Int64?, SyncError>>()
        let moved = MovedBatch(
            mutations: [set(document, ["mark": .string(mark)])], time: at(1), mark: mark,
            user: user)
        world.engine.take(moved) { events.record($0) }
        world.run()
        return events.all.last
    }

    private func wasTaken(_ world: Harness, _ mark: String) -> Bool? {
        let events = Events<Result<Bool, SyncError>>()
        world.engine.wasTaken(mark) { events.record($0) }
        world.run()
        return try? events.all.last?.get()
    }

    private func isFailure(_ result: Result<Int64?, SyncError>?) -> SyncError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test func `is queued once, with the time at which it was made, and sent`() throws {
        let world = try Harness(user: "ann")
        #expect(wasTaken(world, "a") == false)
        #expect(take(world, "a") == .success(1))
        #expect(take(world, "a") == .success(nil))
        #expect(take(world, "b") == .success(2))
        #expect(wasTaken(world, "a") == true)
        let pending = world.engine.core.local.queue.pending.batches
        #expect(pending.map(\.localWriteTime) == [at(1), at(1)])
        world.shakeHands()
        #expect(
            world.writeStream.sent.map(\.mutations).filter { !$0.isEmpty } == [
                [set("rooms/a", ["mark": .string("a")])],
                [set("rooms/a", ["mark": .string("b")])],
            ])
        world.acknowledge(at: 20)
        world.acknowledge(at: 30)
        #expect(take(world, "a") == .success(nil), "also when it is done")
    }

    @Test func `is shown by listeners`() throws {
        let world = try Harness(user: "ann")
        let listener = world.listen(rooms())
        world.answer(world.added[0].id, [doc("rooms/b", 10)], at: 20)
        _ = listener.take()
        #expect(take(world, "a") == .success(1))
        #expect(try listener.snapshot().ids == ["a", "b"])
    }

    @Test func `of another user is refused`() throws {
        let world = try Harness(user: "ann")
        for user in ["zoë", nil] {
            guard case .server(let status) = isFailure(take(world, "a", user)) else {
                Issue.record("it was taken")
                continue
            }
            #expect(status.code == .failedPrecondition)
        }
        #expect(world.engine.core.local.queue.pending.isEmpty)
        #expect(wasTaken(world, "a") == false)
    }

    @Test func `leaves neither a write nor a note when the disk fails`() throws {
        let world = try Harness(user: "ann")
        world.disk.fail([.writeLocally])
        #expect(isFailure(take(world, "a")) == .storage(.full))
        #expect(wasTaken(world, "a") == false)
        #expect(world.engine.core.local.queue.pending.isEmpty)
        world.disk.recover()
        #expect(take(world, "a") == .success(1))
        #expect(take(world, "a") == .success(nil))
    }

    @Test func `waits for room in the queue, and is not noted until it is in`() throws {
        let world = try Harness(user: "ann", maxPendingWrites: 1)
        #expect(take(world, "a") == .success(1))
        #expect(isFailure(take(world, "b")) == .queueFull(limit: 1))
        #expect(take(world, "a") == .success(nil), "it needs no room")
        world.shakeHands()
        world.acknowledge(at: 20)
        #expect(take(world, "b") == .success(2))
    }

    @Test func `is not queued again after a start, nor in a cache that was made anew`() throws {
        let folder = TemporaryFolder()
        let file = folder.file("cache.sqlite")
        var world = try Harness(cacheFile: file, user: "ann", sharesCache: true)
        #expect(take(world, "a") == .success(1))
        world.terminate()
        world = try Harness(cacheFile: file, user: "ann", sharesCache: true)
        #expect(take(world, "a") == .success(nil))
        try world.engine.core.local.store.close()
        let disk = FaultyDisk<StorageStep>()
        disk.fail([.open], with: .corrupt(detail: "a page"), times: 1)
        world = try Harness(cacheFile: file, disk: disk, user: "ann", sharesCache: true)
        #expect(disk.failures == 1)
        #expect(take(world, "a") == .success(nil))
        #expect(world.engine.core.local.queue.pending.batches.map(\.id) == [1])
    }
}
