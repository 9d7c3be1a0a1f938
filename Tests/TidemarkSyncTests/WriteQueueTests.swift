import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// The queue as an app sees it, and the writes that the server refuses.
struct WriteQueueTests {
    private func states(of world: Harness) -> Events<WriteQueueState> {
        let states = Events<WriteQueueState>()
        _ = world.engine.observeWriteQueue { states.record($0) }
        world.run()
        return states
    }

    private func pending(_ world: Harness) throws -> [PendingWrite] {
        let events = Events<Result<[PendingWrite], SyncError>>()
        world.engine.pendingWrites { events.record($0) }
        world.run()
        return try #require(events.all.first).get()
    }

    private func rejected(_ world: Harness) throws -> [RejectedWrite] {
        let events = Events<Result<[RejectedWrite], SyncError>>()
        world.engine.rejectedWrites { events.record($0) }
        world.run()
        return try #require(events.all.first).get()
    }

    @Test func `the queue is listed and observed`() throws {
        let world = try Harness()
        let states = states(of: world)
        let time = world.scheduler.now
        _ = world.write(set("rooms/a", ["n": .integer(1)]))
        world.scheduler.advance(by: .seconds(3))
        _ = world.write(set("rooms/b", [:]))
        let list = try pending(world)
        #expect(list.map(\.batch) == [1, 2] && list.map(\.isBeingSent) == [true, true])
        #expect(list[0].time == time && list[0].mutations == [set("rooms/a", ["n": .integer(1)])])
        world.shakeHands()
        world.acknowledge(at: 30)
        #expect(states.all.map(\.pending) == [0, 1, 2, 1])
        #expect(states.all.map(\.oldest).last == time.advanced(by: .seconds(3)))
        world.engine.setNetworkEnabled(false) {}
        world.run()
        #expect(try pending(world).map(\.isBeingSent) == [false])
    }

    @Test func `a rejected write is kept with its reason until the app decides`() throws {
        let file = TemporaryFile()
        var world = try Harness(cacheFile: file.path)
        let states = states(of: world)
        let events = world.write(set("rooms/a", ["n": .integer(1)]))
        _ = world.write(set("rooms/b", [:]))
        world.shakeHands()
        let reason = RPCStatus(.permissionDenied, "not yours")
        world.writeStream.end(reason)
        world.run()
        #expect(events.all == [.journalled(batch: 1), .failed(.server(reason))])
        #expect(states.all.last?.rejected == 1)
        // Rejected writes are durable, like the queue.
        world.terminate()
        world = try Harness(cacheFile: file.path)
        let kept = try rejected(world)
        #expect(kept.map(\.batch) == [1] && kept[0].reason == reason)
        #expect(kept[0].mutations == [set("rooms/a", ["n": .integer(1)])])
        // A retried write moves to the end of the queue.
        let again = Events<SyncEngine.WriteEvent>()
        world.engine.retryRejectedWrite(1) { again.record($0) }
        world.run()
        #expect(again.all == [.journalled(batch: 3)])
        #expect(try rejected(world).isEmpty)
        #expect(try pending(world).map(\.batch) == [2, 3])
        let missing = Events<SyncEngine.WriteEvent>()
        world.engine.retryRejectedWrite(1) { missing.record($0) }
        world.run()
        guard case .failed(.server(let status))? = missing.all.first, status.code == .notFound
        else { throw Unexpected() }
    }

    @Test func `a rejected write can be forgotten`() throws {
        let world = try Harness()
        _ = world.write(set("rooms/a", [:]))
        world.shakeHands()
        world.writeStream.end(RPCStatus(.invalidArgument, "no"))
        world.run()
        let states = states(of: world)
        #expect(states.all.last?.rejected == 1)
        let done = Events<SyncError?>()
        world.engine.discardRejectedWrite(1) { done.record($0) }
        world.run()
        #expect(done.all == [nil])
        #expect(try rejected(world).isEmpty)
        #expect(states.all.last?.rejected == 0)
    }

    @Test func `what is rejected is bounded: the newest are kept`() throws {
        let world = try Harness()
        let local = world.engine.core.local
        for id in 1...Int64(RejectedTable.most + 5) {
            let batch = MutationBatch(
                id: id, localWriteTime: at(id), baseMutations: [],
                mutations: [set("rooms/a", [:])])
            _ = try local.queue.reject(batch, RPCStatus(.notFound, ""), at: at(1))
        }
        #expect(local.queue.rejectedCount == RejectedTable.most)
        #expect(try rejected(world).first?.batch == 6)
    }

    /// Fails the write stream as soon as it is ready, as often as the backoff allows, for
    /// `duration`.
    private func fail(_ world: Harness, with status: RPCStatus, for duration: Duration) {
        let end = world.scheduler.elapsed + duration
        var seen = 0
        while world.scheduler.elapsed < end {
            if world.transport.writes.count > seen {
                seen = world.transport.writes.count
                world.shakeHands()
                world.writeStream.end(status)
                world.run()
            }
            world.scheduler.advance(by: .seconds(1))
        }
    }

    @Test func `a write on which the server keeps failing does not hold up the others for ever`()
        throws
    {
        let world = try Harness()
        let poison = world.write(set("rooms/a", [:]))
        let next = world.write(set("rooms/b", [:]))
        let status = RPCStatus(.internal, "cannot")
        fail(world, with: status, for: .seconds(500))
        #expect(poison.all == [.journalled(batch: 1)])
        fail(world, with: status, for: .seconds(200))
        #expect(poison.all == [.journalled(batch: 1), .failed(.server(status))])
        #expect(next.all == [.journalled(batch: 2)])
        #expect(try rejected(world).map(\.batch) == [1])
        if world.writeStream.isEnded { world.scheduler.advance(by: .seconds(120)) }
        world.shakeHands()
        #expect(world.writeStream.sent.last?.mutations == [set("rooms/b", [:])])
        world.acknowledge(at: 30)
        #expect(next.all.last == .acknowledged(commitTime: at(30)))
    }

    @Test func `a network that is away, and a server that is full, cost no write`() throws {
        for code in [RPCStatus.Code.unavailable, .resourceExhausted, .unauthenticated] {
            let world = try Harness()
            let events = world.write(set("rooms/a", [:]))
            fail(world, with: RPCStatus(code, ""), for: .seconds(3600))
            #expect(events.all == [.journalled(batch: 1)], "\(code)")
        }
    }

    @Test func `a batch that the disk damaged is set aside, and the others are sent`() throws {
        let file = TemporaryFile()
        var world = try Harness(cacheFile: file.path)
        _ = world.write(set("rooms/a", [:]))
        _ = world.write(set("rooms/b", [:]))
        try world.engine.core.local.store.write { transaction in
            try transaction.execute("UPDATE syncBatch SET mutations = X'FF00' WHERE id = 1")
        }
        try world.engine.core.local.store.close()
        world = try Harness(cacheFile: file.path)
        #expect(try pending(world).map(\.batch) == [2])
        let kept = try rejected(world)
        #expect(kept.map(\.batch) == [1] && kept[0].reason.code == .dataLoss)
        #expect(kept[0].mutations.isEmpty)
    }

    /// An older cache kept its numbers in SQLite's own sequence.
    @Test func `a queue of an older cache goes on with its numbers`() throws {
        let file = TemporaryFile()
        let older = Array(
            LocalSchema.migrations.prefix { $0.name != "sync 7 batch numbers" })
        #expect(older.count < LocalSchema.migrations.count)
        let store = try DocumentStore(.file(file.path), migrations: older)
        try store.write { transaction throws in
            for (id, path) in [(3, "rooms/a"), (4, "rooms/b"), (90, "rooms/gone")] {
                try transaction.execute(
                    """
                    INSERT INTO syncBatch (id, localWriteTime, baseMutations, mutations)
                    VALUES (?, 7, ?, ?)
                    """,
                    [
                        .integer(Int64(id)), .blob(MutationCodec.encode([])),
                        .blob(MutationCodec.encode([set(path, [:])])),
                    ])
            }
            try transaction.execute("DELETE FROM syncBatch WHERE id = 90")
        }
        try store.close()
        let world = try Harness(cacheFile: file.path)
        #expect(try pending(world).map(\.batch) == [3, 4])
        #expect(world.write(set("rooms/c", [:])).all == [.journalled(batch: 91)])
        #expect(try pending(world).map(\.batch) == [3, 4, 91])
    }

    @Test func `numbers that were not used are used after a start`() throws {
        let file = TemporaryFile()
        for number in 1...3 {
            let world = try Harness(cacheFile: file.path)
            #expect(
                world.write(set("rooms/a", [:])).all == [.journalled(batch: Int64(number))])
            world.terminate()
        }
    }

    @Test func `a queue saved from a damaged cache goes on behind its numbers`() throws {
        let local = try LocalStore(.memory, database: Harness.database)
        for path in ["rooms/a", "rooms/b"] {
            _ = try local.queue.enqueue([set(path, [:])], at: at(1))
        }
        _ = try local.queue.reject(
            local.queue.pending.batches[1].decoded, RPCStatus(.notFound, ""), at: at(1))
        var saved = SavedQueue()
        saved.replace(nil, with: local.queue.pending.batches)
        saved.rejected = [
            [
                .integer(2), .blob([]), .integer(1), .blob(MutationCodec.encode([])), .integer(5),
                .text(""), .integer(1),
            ]
        ]
        let new = try LocalStore(.memory, database: Harness.database)
        try new.queue.restore(saved, nil)
        #expect(try new.queue.enqueue([set("rooms/c", [:])], at: at(2)).batch.id == 3)
    }
}
