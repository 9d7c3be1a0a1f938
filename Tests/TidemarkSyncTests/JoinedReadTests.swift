import Testing
import TidemarkModel
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

/// Reads of rows that a listener has just asked for: the listen answers both.
struct JoinedReadTests {
    private let document = path("rooms/a")

    private func listens(_ world: Harness) -> Listener {
        world.listen(.document(document, in: Harness.database), metadata: true)
    }

    private func answer(_ read: Events<Result<ReadResult, SyncError>>) throws -> ReadResult {
        try #require(read.all.first).get()
    }

    private func fresh(_ time: Int64, _ ids: [String]) -> (ReadResult) -> Bool {
        { $0.freshness == .fresh(readTime: at(time)) && $0.ids == ids }
    }

    @Test func `a read of a document waits for the listen, and costs nothing`() throws {
        let world = try Harness()
        let listener = listens(world)
        let reads = (0..<3).map { _ in world.read(document) }
        #expect(reads.allSatisfy(\.all.isEmpty) && world.transport.calls.isEmpty)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(try listener.snapshot().ids == ["a"])
        for read in reads {
            #expect(read.all.count == 1)
            #expect(try fresh(20, ["a"])(answer(read)))
        }
        #expect(world.transport.calls.isEmpty && world.added.count == 1 && world.removed.isEmpty)
        #expect(try world.report().reads == 1)
    }

    @Test func `a read of a query waits too, and sees the writes that are not sent`() throws {
        let world = try Harness()
        let listener = world.listen(rooms())
        let (read, other) = (world.read(rooms()), world.read(rooms { $0.limit = .first(1) }))
        #expect(world.transport.calls.count == 1, "another query has rows of its own")
        _ = world.write(set("rooms/b", [:]))
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(try fresh(20, ["a", "b"])(answer(read)))
        #expect(try answer(read).documents.map { $0.hasLocalMutations } == [false, true])
        #expect(other.all.isEmpty && listener.take().isEmpty == false)
    }

    @Test func `a read from the server asks the server`() throws {
        let world = try Harness()
        _ = listens(world)
        _ = world.read(document, source: .server)
        #expect(world.transport.calls.count == 1)
    }

    @Test func `a listener of the cache answers no read`() throws {
        let world = try Harness()
        _ = world.listen(.document(document, in: Harness.database), source: .cache)
        _ = world.read(document)
        #expect(world.transport.calls.count == 1)
    }

    @Test func `a missing document is an answer`() throws {
        let world = try Harness()
        _ = listens(world)
        let read = world.read(document)
        world.answer(world.added[0].id, [], at: 20)
        #expect(try fresh(20, [])(answer(read)))
    }

    @Test func `the deadline wins, and the listen goes on`() throws {
        let world = try Harness()
        let listener = listens(world)
        let read = world.read(document, deadline: .seconds(2))
        world.scheduler.advance(by: .seconds(2))
        #expect(read.all == [.failure(.notInCache(reason: .deadlinePassed))])
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(read.all.count == 1)
        #expect(try listener.snapshot().isFromCache == false)
        #expect(world.removed.isEmpty && world.transport.calls.isEmpty)
    }

    @Test func `the listen is kept for the read, and ends with it`() throws {
        let world = try Harness()
        let listener = listens(world)
        let read = world.read(document)
        listener.handle?.cancel()
        world.run()
        #expect(world.removed.isEmpty)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(try fresh(20, ["a"])(answer(read)))
        #expect(world.removed == [world.added[0].id])
        #expect(try world.report().reads == 1)
    }

    @Test func `a read that times out alone ends the listen`() throws {
        let world = try Harness()
        let listener = listens(world)
        let read = world.read(document, deadline: .seconds(2))
        listener.handle?.cancel()
        world.scheduler.advance(by: .seconds(2))
        #expect(read.all.count == 1 && world.removed == [world.added[0].id])
    }

    @Test func `a refused listen refuses the read`() throws {
        let world = try Harness()
        _ = listens(world)
        let read = world.read(document)
        let refusal = RPCStatus(.permissionDenied, "no")
        world.push(
            .targetChange(
                TargetChange(.remove, targetIDs: [world.added[0].id], cause: refusal)))
        #expect(read.all == [.failure(.server(refusal))])
        #expect(world.transport.calls.isEmpty)
    }

    @Test func `without a network the cache answers`() throws {
        let world = try Harness()
        _ = world.read(document)
        world.transport.calls[0].reply(
            .batchGetDocuments(
                BatchGetResult(row: .found(doc("rooms/a", 10)), readTime: at(20))))
        world.run()
        _ = listens(world)
        let read = world.read(document)
        #expect(read.all.isEmpty)
        world.engine.setNetworkEnabled(false) {}
        world.run()
        let answer = try answer(read)
        #expect(answer.ids == ["a"])
        guard case .stale(_, reason: .offline) = answer.freshness else {
            Issue.record("\(answer.freshness)")
            return
        }
        #expect(world.transport.calls.count == 1)
    }

    @Test func `the next stream answers if the first breaks`() throws {
        let world = try Harness()
        _ = world.listen(rooms())
        world.answer(world.added[0].id, [], at: 20)
        _ = listens(world)
        let read = world.read(document, deadline: nil)
        let (listens, calls) = (world.transport.listens.count, world.transport.calls.count)
        world.stream.end(RPCStatus(.unavailable, "reset"))
        world.scheduler.advance(by: .seconds(2))
        #expect(world.transport.listens.count == listens + 1 && read.all.isEmpty)
        world.answer(world.added.last!.id, [doc("rooms/a", 10)], at: 30)
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 31)
        #expect(read.all.count == 1 && world.transport.calls.count == calls)
        #expect(try answer(read).ids == ["a"] && answer(read).freshness.isFresh)
    }

    @Test func `a listen that is held back leaves the read to a call`() throws {
        let feed = ReadTag(label: "feed")
        let world = try Harness(readBudgets: [
            ReadBudget(.label("feed"), readsPerDay: 1, .degradeToCache)
        ])
        let listener = Listener()
        listener.handle = world.engine.listen(
            .document(document, in: Harness.database), .init(tag: feed)
        ) { listener.record($0) }
        let others = Listener()
        others.handle = world.engine.listen(rooms { $0.limit = .first(9) }, .init(tag: feed)) {
            others.record($0)
        }
        world.run()
        let read = world.read(document)
        #expect(world.transport.calls.isEmpty)
        // The other listener of the feed uses its whole budget.
        world.answer(world.added[1].id, [doc("rooms/b", 10)], at: 20)
        #expect(world.transport.calls.count == 1 && read.all.isEmpty)
        world.transport.calls[0].reply(
            .batchGetDocuments(
                BatchGetResult(row: .found(doc("rooms/a", 10)), readTime: at(30))))
        world.run()
        #expect(try fresh(30, ["a"])(answer(read)))
    }

    enum End: CaseIterable { case user, pause, client }

    @Test(arguments: End.allCases)
    func `the end of the user, a pause or the end of the client ends the read`(end: End) throws {
        let world = try Harness()
        _ = listens(world)
        let read = world.read(document)
        switch end {
        case .user: world.engine.changeUser(to: "ben", erasesPrevious: false) { _ in }
        case .pause: world.engine.suspend {}
        case .client: world.engine.terminate {}
        }
        world.run()
        let errors: [End: SyncError] = [
            .user: .userChanged, .pause: .suspended, .client: .terminated,
        ]
        #expect(read.all == [.failure(try #require(errors[end]))])
        if end == .client { return }
        if end == .pause { world.engine.resume() }
        world.run()
        world.answer(world.added[0].id, [doc("rooms/a", 10)], at: 20)
        #expect(read.all.count == 1 && world.transport.calls.isEmpty)
    }
}
