import Testing
import TidemarkModel
import TidemarkSimulation
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// Small versions of defects that the World found. Each test failed before the correction.
struct WorldFindingsTests {
    @Test func `a refused write is not shown on, over one that no listen has confirmed`() throws {
        let harness = try Harness()
        let listener = harness.listen(rooms(), metadata: true)
        harness.answer(1, [doc("rooms/a", 1, ["n": .integer(1)])], at: 2)
        _ = harness.write(set("rooms/a", ["n": .integer(2)]))
        harness.shakeHands()
        harness.acknowledge(at: 5)
        _ = harness.write(set("rooms/a", ["n": .integer(3)]))
        _ = listener.take()
        harness.writeStream.end(RPCStatus(.permissionDenied, "no"))
        harness.run()
        let snapshot = try listener.snapshot()
        #expect(snapshot.fields("rooms/a") == ["n": .integer(2)])
        #expect(!snapshot.hasPendingWrites)
    }

    /// The write's response was delayed for a long time. Another client has since deleted the
    /// document. The listen never saw the document and does not report the deletion.
    @Test func `a write that the listen is past is asked for, and not shown for ever`() throws {
        let harness = try Harness()
        let listener = harness.listen(rooms())
        harness.answer(1, [], at: 10)
        _ = harness.write(set("rooms/a", ["n": .integer(1)]))
        #expect(try #require(try listener.take().last?.get()).ids == ["a"])
        harness.shakeHands()
        harness.acknowledge(at: 5)
        #expect(harness.added.last?.kind == .documents([path("rooms/a")]))
        let limbo = try #require(harness.added.last?.id)
        harness.push(.targetChange(TargetChange(.add, targetIDs: [limbo])))
        harness.push(
            .targetChange(
                TargetChange(.current, targetIDs: [limbo], resumeToken: [7], readTime: at(12))))
        harness.snapshot(12)
        #expect(try #require(try listener.take().last?.get()).ids == [])
    }

    @Test func `a listen that comes past a held write without a word asks for it`() throws {
        let harness = try Harness()
        _ = harness.listen(rooms())
        harness.answer(1, [], at: 2)
        _ = harness.write(set("rooms/a", ["n": .integer(1)]))
        harness.shakeHands()
        harness.acknowledge(at: 5)
        #expect(harness.added.count == 1, "the listen will tell of it")
        harness.snapshot(9)
        #expect(harness.added.last?.kind == .documents([path("rooms/a")]))
    }

    @Test func `a sum on a document that is missing is not counted twice`() throws {
        let harness = try Harness()
        let one = Mutation(
            path: path("rooms/a"), .patch([:], mask: []),
            transforms: [FieldTransform(field("n"), .increment(.integer(1)))])
        var query = rooms()
        query.filter = .field(
            .documentID, .equal,
            .reference(ReferenceValue(database: Harness.database, path: path("rooms/a"))))
        let listener = harness.listen(query)
        harness.answer(1, [], at: 2)
        _ = harness.write(one)
        // The listen reports the write before the write stream does.
        harness.push(
            .documentChange(DocumentChange(doc("rooms/a", 3, ["n": .integer(1)]), targetIDs: [1])))
        harness.snapshot(3)
        let shown = try listener.take().compactMap { try $0.get().fields("rooms/a") }
        #expect(shown == [["n": .integer(1)]])
    }

    /// In a cache that users share, the responses that one user's stream has not yet delivered
    /// belong to that user's batches.
    @Test(arguments: [false, true])
    func `a write stream is taken up by its own user only`(isRestarted: Bool) throws {
        let folder = TemporaryFolder()
        func start(_ user: String) throws -> Harness {
            try Harness(cacheFile: folder.file("cache.sqlite"), user: user, sharesCache: true)
        }
        var harness = try start("ann")
        func become(_ user: String) throws {
            if isRestarted {
                harness.engine.terminate {}
                harness.run()
                harness = try start(user)
            } else {
                harness.engine.changeUser(to: user) { _ in }
                harness.run()
            }
        }
        _ = harness.write(set("rooms/a", [:]))
        harness.writeStream.push(WriteResponse(streamID: "tidemark-1", streamToken: [3]))
        harness.run()
        #expect(harness.writeStream.sent.count == 2, "the batch is under way")
        try become("ben")
        _ = harness.write(set("rooms/b", [:]))
        #expect(harness.writeStream.sent == [WriteRequest()], "ben's stream is a new one")
        try become("ann")
        #expect(
            harness.writeStream.sent == [WriteRequest(streamID: "tidemark-1", streamToken: [3])])
    }

    @Test func `rows of which other targets know more are of no one time`() throws {
        var view = View.empty(rooms(), in: Harness.database, synced: [path("rooms/a")])
        let old = LocalDocument(StoredDocument(doc("rooms/a", 1), readTime: at(1)))
        let new = LocalDocument(
            StoredDocument(doc("rooms/a", 9, ["n": .integer(1)]), readTime: at(9)))
        let current = View.Target(delta: TargetDelta(isCurrent: true))
        _ = view.step(.result([old], current, version: at(4)))
        #expect(view.isFresh && view.readTime == at(4))
        _ = view.step(.documents([new], nil, isBehind: true))
        #expect(view.readTime == nil)
        _ = view.step(.documents([], nil, version: at(10)))
        #expect(view.readTime == at(10))
    }
}
