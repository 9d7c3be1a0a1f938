import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

struct ReadTests {
    let unavailable = RPCStatus(.unavailable, "no network")

    private func reply(_ document: Document, at time: Int64) -> Reply {
        .batchGetDocuments(BatchGetResult(row: .found(document), readTime: at(time)))
    }

    @Test func `a read asks the server, and the cache has it afterwards`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"))
        let call = try #require(world.transport.calls.first)
        #expect(
            call.request
                == .batchGetDocuments(BatchGetDocumentsRequest(paths: [path("rooms/a")])))
        #expect(call.context.label == "test")
        call.reply(reply(doc("rooms/a", 10), at: 20))
        world.run()
        #expect(try read.all[0].get().freshness == .fresh(readTime: at(20)))
        let cached = try world.read(path("rooms/a"), source: .cache).all[0].get()
        #expect(cached.ids == ["a"] && !cached.freshness.isFresh)
    }

    @Test func `the deadline wins, and the late answer is kept for the next read`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), deadline: .seconds(2))
        world.scheduler.advance(by: .milliseconds(1_900))
        #expect(read.all.isEmpty)
        world.scheduler.advance(by: .milliseconds(100))
        #expect(read.all == [.failure(.notInCache(reason: .deadlinePassed))])
        world.transport.calls[0].reply(reply(doc("rooms/a", 10), at: 20))
        world.run()
        #expect(read.all.count == 1)
        #expect(try world.read(path("rooms/a"), source: .cache).all[0].get().ids == ["a"])
    }

    @Test func `offline is remembered: the second read does not wait`() throws {
        let world = try Harness()
        let first = world.read(path("rooms/a"))
        world.transport.calls[0].reply(reply(doc("rooms/a", 10), at: 1_699_999_990_000_000))
        world.run()
        #expect(first.all.count == 1)
        let second = world.read(path("rooms/a"))
        world.transport.calls[1].end(unavailable)
        world.run()
        #expect(
            try second.all[0].get().freshness == .stale(age: .seconds(10), reason: .offline))
        let third = world.read(path("rooms/a"))
        #expect(try third.all[0].get().ids == ["a"])
    }

    @Test func `a silent server is waited for once`() throws {
        let world = try Harness()
        let first = world.read(path("rooms/a"), deadline: .seconds(2))
        world.scheduler.advance(by: .seconds(2))
        #expect(first.all.count == 1)
        let second = world.read(path("rooms/a"), deadline: .seconds(2))
        #expect(second.all == [.failure(.notInCache(reason: .offline))])
        // A read with a longer deadline waits only for the rest of its time.
        let third = world.read(path("rooms/a"), deadline: .seconds(5))
        world.scheduler.advance(by: .seconds(3))
        #expect(third.all.count == 1)
    }

    @Test func `the network's return is noticed by a read in the background`() throws {
        let world = try Harness()
        _ = world.read(path("rooms/a"))
        world.transport.calls[0].end(unavailable)
        world.run()
        _ = world.read(path("rooms/a"))
        #expect(world.transport.calls.count == 2, "the first probe does not wait")
        world.transport.calls[1].reply(reply(doc("rooms/a", 10), at: 20))
        world.run()
        let read = world.read(path("rooms/a"))
        #expect(read.all.isEmpty)
        world.transport.calls[2].reply(reply(doc("rooms/a", 11), at: 21))
        world.run()
        #expect(try read.all[0].get().freshness == .fresh(readTime: at(21)))
    }

    @Test func `the app's word that the network may be back is taken at once`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        _ = world.write(set("rooms/b", [:]))
        world.transport.listens[0].end(unavailable)
        world.transport.writes[0].end(unavailable)
        world.run()
        world.transport.listens.last!.end(unavailable)
        world.transport.writes.last!.end(unavailable)
        world.run()
        let (listens, writes) = (world.transport.listens.count, world.transport.writes.count)
        world.engine.networkMayBeBack()
        world.run()
        #expect(world.transport.listens.count == listens + 1, "no delay is waited out")
        #expect(world.transport.writes.count == writes + 1)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(try listener.take().last?.get().isFromCache == false)
    }

    @Test func `another network ends streams that seem well, and connects anew`() throws {
        let world = try Harness()
        let listener = world.listen(rooms(), metadata: true)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20, token: [7])
        #expect(try listener.take().last?.get().isFromCache == false)
        let old = world.transport.listens.last!
        let (listens, changes) = (world.transport.listens.count, world.transport.networkChanges)
        // The device moves from Wi-Fi to cellular. The old connection is dead, and no packet
        // reports it.
        world.engine.networkMayBeBack()
        world.run()
        #expect(world.transport.networkChanges == changes + 1)
        #expect(old.isEnded)
        #expect(world.transport.listens.count == listens + 1)
        #expect(world.added[0].resume == .token([7]), "nothing is read again")
        // The new stream does not answer either. After ten seconds the rows are marked as the
        // cache's.
        world.scheduler.advance(by: .seconds(11))
        #expect(try listener.take().last?.get().isFromCache == true)
    }

    @Test func `a document known to be missing is an answer offline`() throws {
        let world = try Harness()
        _ = world.read(path("rooms/a"))
        world.transport.calls[0].reply(
            .batchGetDocuments(BatchGetResult(row: .missing(path("rooms/a")), readTime: at(20))))
        world.run()
        world.engine.setNetworkEnabled(false) {}
        world.run()
        let read = try world.read(path("rooms/a")).all[0].get()
        #expect(read.documents.isEmpty && read.isKnown)
    }

    @Test func `a refusal is an error, whatever the cache has`() throws {
        let world = try Harness()
        _ = world.write(set("rooms/a", [:]))
        let read = world.read(path("rooms/a"))
        let status = RPCStatus(.permissionDenied, "no")
        world.transport.calls[0].end(status)
        world.run()
        #expect(read.all == [.failure(.server(status))])
    }

    @Test func `a query's answer has the pending writes on top`() throws {
        let world = try Harness()
        _ = world.write(set("rooms/b", ["n": .integer(9)]))
        let read = world.read(rooms())
        world.transport.calls[0].reply(
            .runQuery(RunQueryReply(document: doc("rooms/a", 10), readTime: at(20))),
            .runQuery(RunQueryReply(document: doc("rooms/b", 10), readTime: at(20))))
        world.run()
        let result = try read.all[0].get()
        #expect(result.ids == ["a", "b"])
        #expect(result.documents[1].hasPendingWrites)
        #expect(result.documents[1].document.fields == ["n": .integer(9)])
    }

    @Test func `what a complete answer does not hold is not shown later either`() throws {
        let world = try Harness()
        _ = world.read(rooms())
        let row = { (name: String, time: Int64) in
            Reply.runQuery(RunQueryReply(document: doc(name, 10), readTime: at(time)))
        }
        world.transport.calls[0].reply(row("rooms/a", 20), row("rooms/b", 20))
        world.run()
        _ = world.read(rooms())
        world.transport.calls[1].reply(row("rooms/a", 30))
        world.run()
        #expect(try world.read(rooms(), source: .cache).all[0].get().ids == ["a"])
    }

    @Test func `what is listened to is answered without a call`() throws {
        let world = try Harness()
        _ = world.listen(rooms())
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        let result = try world.read(rooms()).all[0].get()
        #expect(result.ids == ["a"] && result.freshness == .fresh(readTime: at(20)))
        #expect(world.transport.calls.isEmpty)
    }

    @Test func `a fetch stores rows and records together`() throws {
        let world = try Harness()
        let done = Events<Result<ReadResult, SyncError>>()
        world.engine.fetch(rooms(), deadline: nil) { documents, time in
            ["feed": [UInt8(documents.count), UInt8(time.microseconds)]]
        } completion: {
            done.record($0)
        }
        world.run()
        world.transport.calls[0].reply(
            .runQuery(RunQueryReply(document: doc("rooms/a", 10), readTime: at(20))))
        world.run()
        #expect(try done.all[0].get().ids == ["a"])
        let record = Events<Result<[UInt8]?, SyncError>>()
        world.engine.record(forKey: "feed") { record.record($0) }
        world.run()
        #expect(record.all == [.success([1, 20])])
    }

    @Test func `a fetch that breaks half way keeps its rows, and stores no record`() throws {
        let world = try Harness()
        let done = Events<Result<ReadResult, SyncError>>()
        world.engine.fetch(rooms(), deadline: nil) { _, _ in
            ["feed": [1]]
        } completion: {
            done.record($0)
        }
        world.run()
        for attempt in 0..<5 {
            world.transport.calls[attempt].reply(
                .runQuery(RunQueryReply(document: doc("rooms/a", 10), readTime: at(20))),
                ends: false)
            world.transport.calls[attempt].end(unavailable)
            world.scheduler.advance(by: .seconds(1))
        }
        #expect(world.transport.calls.count == 5)
        #expect(done.all == [.failure(.server(unavailable))])
        #expect(try world.read(rooms(), source: .cache).all[0].get().ids == ["a"])
        let record = Events<Result<[UInt8]?, SyncError>>()
        world.engine.record(forKey: "feed") { record.record($0) }
        world.run()
        #expect(record.all == [.success(nil)])
    }

    @Test func `a fetched row of a live listen is not asked for again`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        world.answer(world.added[0].id, [], at: 20)
        _ = listener.take()
        world.engine.fetch(rooms(), deadline: nil) { _, _ in
            [:]
        } completion: { _ in
        }
        world.run()
        world.transport.calls[0].reply(
            .runQuery(RunQueryReply(document: doc("rooms/a", 30), readTime: at(31))))
        world.run()
        #expect(try listener.snapshot().ids == ["a"])
        #expect(world.added.count == 1, "limbo")
        world.push(
            .documentChange(
                DocumentChange(doc("rooms/a", 30), targetIDs: [world.added[0].id])))
        world.snapshot(32)
        #expect(world.added.count == 1)
        #expect(listener.take().isEmpty)
    }

    @Test func `after the end every call fails with it`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"))
        let listener = world.listen(rooms())
        let events = world.write(set("rooms/a", [:]))
        world.terminate()
        #expect(read.all == [.failure(.terminated)])
        #expect(listener.take().last == .failure(.terminated))
        #expect(events.all.last == .failed(.terminated))
        #expect(world.read(path("rooms/a"), source: .cache).all == [.failure(.terminated)])
    }
}
