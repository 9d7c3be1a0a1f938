import Foundation
import Testing
import TidemarkModel
import TidemarkSimulation
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// Reads of the cache that take many steps of the engine, and changes between these steps.
struct SliceTests {
    private static let rounds = 0..<14

    /// Queries without an index: one in the order of names, one in another order.
    private static let queries = [
        rooms { $0.filter = .field(field("floor"), .equal, .integer(3)) },
        rooms {
            $0.filter = .field(field("floor"), .equal, .integer(3))
            $0.orders = [Order(field("n"), .descending)]
            $0.limit = .first(8)
        },
    ]

    private func world(_ user: String? = nil, file: String? = nil) throws -> Harness {
        let world = try Harness(cacheFile: file, user: user, rowsOfSlice: 10)
        let documents = (0..<100).map { number in
            RemoteDocument.found(
                doc(
                    "rooms/\(100 + number)", 10,
                    [
                        "floor": .integer(Int64(number % 10)), "n": .integer(Int64(number)),
                    ]))
        }
        _ = try world.engine.core.local.remote.apply(documents, readTime: at(20))
        return world
    }

    /// Runs a job after `rounds` turns of other jobs.
    private func after(
        _ rounds: Int, _ scheduler: VirtualScheduler, _ job: @escaping @Sendable () -> Void
    ) {
        scheduler.enqueue { [self] in
            if rounds == 0 { job() } else { after(rounds - 1, scheduler, job) }
        }
    }

    private func listen(
        _ query: Query, _ world: Harness, _ source: ReadSource = .cache
    ) -> Listener {
        let listener = Listener()
        listener.handle = world.engine.listen(query, .init(source: source)) { listener.record($0) }
        return listener
    }

    private func ids(_ query: Query, _ world: Harness) throws -> [String] {
        try world.engine.core.local.documents.run(query).map(\.path.id)
    }

    @Test(arguments: rounds, queries)
    func `what is written meanwhile is in the first snapshot`(rounds: Int, query: Query) throws {
        let world = try world()
        let listener = listen(query, world)
        let engine = world.engine
        after(rounds, world.scheduler) {
            engine.write([
                set("rooms/150", ["floor": .integer(3), "n": .integer(150)]),
                set("rooms/193", ["floor": .integer(4), "n": .integer(1)]),
                Mutation(path: path("rooms/103"), .delete),
                Mutation(
                    path: path("rooms/183"), .patch(["n": .integer(-1)], mask: [field("n")])),
            ]) { _ in }
        }
        world.run()
        let events = listener.take()
        let last = try #require(events.last).get()
        #expect(last.ids == (try ids(query, world)))
        #expect(last.ids.contains("150") && !last.ids.contains("193"))
        // Later rounds may come after the end of the read.
        if rounds < 8 { #expect(events.count == 1 && last.hasPendingWrites) }
    }

    /// Collects rows, and checks that no document comes twice.
    private final class Collector: RowReceiver, @unchecked Sendable {
        // `@unchecked`: the engine of these tests has one thread.
        var rows: [DocumentPath: MapValue] = [:]
        var begins = 0
        var result: Result<StreamedRows?, SyncError>?
        let takesFields: Bool

        init(takesFields: Bool = false) { self.takesFields = takesFields }

        func begin() {
            rows = [:]
            begins += 1
        }

        func take(_ row: ViewDocument) -> Bool {
            #expect(rows.updateValue(row.document.fields, forKey: row.path) == nil)
            return true
        }

        /// The number in a document is that of its id, from 100 on.
        func take(_ fields: FieldsInPlace) -> Bool {
            guard case .integer(let n)? = fields[field("n")] else { return false }
            let name = path("rooms/\(n == 150 ? 150 : 100 + n)")
            #expect(rows.updateValue(fields.copied.decoded, forKey: name) == nil)
            return true
        }
    }

    @Test(arguments: rounds, [false, true])
    func `what is written meanwhile is in streamed rows once`(
        rounds: Int, asFields: Bool
    ) throws {
        let world = try world()
        let query = rooms { $0.filter = .field(field("floor"), .equal, .integer(3)) }
        let (engine, seen) = (world.engine, Collector(takesFields: asFields))
        engine.streamCached(query, to: seen) { seen.result = $0 }
        after(rounds, world.scheduler) {
            engine.write([
                set("rooms/150", ["floor": .integer(3), "n": .integer(150)]),
                set("rooms/193", ["floor": .integer(4), "n": .integer(1)]),
                Mutation(path: path("rooms/103"), .delete),
            ]) { _ in }
        }
        world.run()
        let streamed = try #require(try seen.result?.get())
        #expect(seen.rows.count == (rounds < 8 ? 9 : seen.rows.count))
        if rounds < 8 {
            #expect(seen.rows.keys.map(\.id).sorted() == (try ids(query, world)))
            #expect(streamed.hasPendingWrites && (1...2).contains(seen.begins))
        }
    }

    @Test func `rows that change again and again are not streamed`() throws {
        let world = try world()
        let query = Query(collectionID: "rooms")
        let (engine, seen) = (world.engine, Collector())
        engine.streamCached(query, to: seen) { seen.result = $0 }
        for round in 0..<200 {
            after(round, world.scheduler) {
                engine.write([set("rooms/\(300 + round)", ["n": .integer(1)])]) { _ in }
            }
        }
        world.run()
        #expect(seen.begins == StreamedRead.maxRuns)
        guard case .success(nil)? = seen.result else {
            return #expect(Bool(false), "\(String(describing: seen.result))")
        }
    }

    private func setTime(_ name: String, floor: Int64) -> Mutation {
        Mutation(
            path: path(name), .set(["floor": .integer(floor), "n": .integer(150)]),
            transforms: [FieldTransform(field("time"), .serverTimestamp)])
    }

    @Test(arguments: rounds, queries)
    func `a server timestamp that is written meanwhile is in the sources of a pipeline`(
        rounds: Int, query: Query
    ) throws {
        let world = try world()
        let (engine, read) = (world.engine, Events<Result<[String], SyncError>>())
        engine.cachedSources([.rows(query)], maxBytes: 1 << 20, withWords: false) { result in
            read.record(result.map { $0.documents[0].map(\.path.id) })
        }
        let before = try ids(query, world)
        after(rounds, world.scheduler) {
            engine.write([self.setTime("rooms/150", floor: 3)]) { _ in }
        }
        world.run()
        let found = try #require(read.all.last).get()
        #expect(read.all.count == 1 && Set(found).count == found.count)
        #expect(Set(found).isSuperset(of: before) && (rounds >= 8 || found.last == "150"))
    }

    @Test func `a limited source with new server timestamps again and again fails`() throws {
        let world = try world()
        let (engine, read) = (world.engine, Events<Result<CachedSources, SyncError>>())
        engine.cachedSources(
            [.rows(Self.queries[1])], maxBytes: 1 << 20, withWords: false
        ) { read.record($0) }
        for round in 0..<400 {
            after(round, world.scheduler) {
                engine.write([self.setTime("rooms/\(300 + round)", floor: 3)]) { _ in }
            }
        }
        world.run()
        #expect(read.all.count == 1)
        #expect(throws: SyncError.changingTimes) { try read.all[0].get() }
    }

    @Test(arguments: rounds, queries)
    func `what the server says meanwhile is in the first snapshot`(
        rounds: Int, query: Query
    ) throws {
        let world = try world()
        let other = world.listen(
            rooms { $0.filter = .field(field("n"), .greaterThan, .integer(97)) })
        let id = world.added[0].id
        world.push(.targetChange(TargetChange(.add, targetIDs: [id])))
        let listener = listen(query, world)
        let stream = world.stream
        after(rounds, world.scheduler) {
            let new = doc("rooms/250", 30, ["floor": .integer(3), "n": .integer(250)])
            let changed = doc("rooms/193", 30, ["floor": .integer(4), "n": .integer(193)])
            for document in [new, changed] {
                stream.push(.documentChange(DocumentChange(document, targetIDs: [id])))
            }
            stream.push(
                .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: [1])))
            stream.push(.targetChange(TargetChange(.noChange, readTime: at(40))))
        }
        world.run()
        let events = listener.take()
        let last = try #require(events.last).get()
        #expect(last.ids == (try ids(query, world)))
        #expect(last.ids.contains("250") && !last.ids.contains("193"))
        if rounds < 6 { #expect(events.count == 1) }
        #expect(!other.take().isEmpty)
    }

    @Test(arguments: rounds)
    func `a listener that goes ends the search`(rounds: Int) throws {
        let world = try world()
        let listener = listen(Self.queries[1], world)
        after(rounds, world.scheduler) { listener.handle!.cancel() }
        world.run()
        let core = world.engine.core
        if rounds < 8 { #expect(listener.take().isEmpty) }
        #expect(!core.isLookingThroughCache && core.listenedQueries.isEmpty)
        #expect(core.local.targets.isEmpty)
    }

    @Test func `one of two listeners goes, the other is told`() throws {
        let world = try world()
        let (first, second) = (
            listen(Self.queries[0], world), listen(Self.queries[0], world, .default)
        )
        after(2, world.scheduler) { first.handle!.cancel() }
        world.run()
        #expect(first.take().isEmpty)
        #expect(try second.snapshot().ids.count == 10)
        #expect(world.added.count == 1)
        let third = listen(Self.queries[0], world)
        world.run()
        #expect(try third.snapshot().ids.count == 10)
        #expect(world.added.count == 1)
    }

    @Test(arguments: rounds)
    func `a change of the user begins anew, and a read is not answered`(rounds: Int) throws {
        let folder = TemporaryFolder()
        let world = try world("ann", file: folder.file("cache.sqlite"))
        let listener = listen(Self.queries[0], world)
        let read = Events<Result<ReadResult, SyncError>>()
        world.engine.read(Self.queries[1], source: .cache, deadline: nil) { read.record($0) }
        let engine = world.engine
        after(rounds, world.scheduler) { engine.changeUser(to: "ben") { _ in } }
        world.run()
        let last = try #require(listener.take().last).get()
        #expect(last.ids.isEmpty)
        #expect(read.all.count == 1)
        if rounds < 8 { #expect(read.all == [.failure(.userChanged)]) }
        #expect(!world.engine.core.hasOpenings)
    }

    @Test(arguments: rounds)
    func `an end of the engine is told`(rounds: Int) throws {
        let world = try world()
        let listener = listen(Self.queries[0], world)
        let read = Events<Result<ReadResult, SyncError>>()
        world.engine.read(Self.queries[1], source: .cache, deadline: nil) { read.record($0) }
        let engine = world.engine
        after(rounds, world.scheduler) { engine.terminate {} }
        world.run()
        #expect(listener.take().last == .failure(.terminated))
        #expect(read.all.count == 1)
        if rounds < 8 { #expect(read.all == [.failure(.terminated)]) }
    }

    @Test(arguments: [0, 3])
    func `the server may still win while the cache is looked through`(rounds: Int) throws {
        let world = try world()
        let read = world.read(Self.queries[0], deadline: .seconds(2))
        let call = world.transport.calls[0]
        let reply = Reply.runQuery(
            RunQueryReply(
                document: doc("rooms/900", 30, ["floor": .integer(3), "n": .integer(1)]),
                readTime: at(40)))
        let core = world.engine.core
        let id = try #require(core.waitingReads.first)
        // This call is the one that the read's deadline makes.
        after(0, world.scheduler) {
            core.finish(id, fromCache: .query(Self.queries[0]), .deadlinePassed)
        }
        after(rounds, world.scheduler) { call.reply(reply) }
        world.run()
        #expect(try read.all.map { try $0.get().ids } == [["900"]])
        #expect(try read.all[0].get().freshness == .fresh(readTime: at(40)))
    }

    @Test(arguments: [nil, 0, 1, 2, 3, 4, 5, 6])
    func `what a target holds is known before the server is asked`(cancelledAfter: Int?) throws {
        let file = TemporaryFile()
        let first = try Harness(cacheFile: file.path)
        let before = first.listen(rooms())
        first.answer(first.added[0].id, (0..<35).map { doc("rooms/\($0)", 10) }, at: 20)
        #expect(try before.take().last?.get().isFromCache == false)
        first.terminate()
        let world = try Harness(cacheFile: file.path, rowsOfSlice: 10)
        let listener = listen(rooms(), world, .default)
        if let cancelledAfter {
            after(cancelledAfter, world.scheduler) { listener.handle!.cancel() }
        }
        world.run()
        if cancelledAfter != nil {
            #expect(!world.engine.core.isLookingThroughCache)
            return
        }
        #expect(try listener.snapshot().ids.count == 35)
        #expect(world.added.map(\.resume) == [.token([1])])
        world.answer(world.added[0].id, [], at: 40)
        // A row that was not known to be in the target would be in limbo.
        #expect(world.added.count == 1)
        let view = try #require(world.engine.core.listenedQueries.first?.view)
        #expect(view.isFresh && view.rows.count == 35)
    }

    @Test(arguments: 0...6)
    func `a pause meanwhile ends no listener`(rounds: Int) throws {
        let file = TemporaryFile()
        let first = try Harness(cacheFile: file.path)
        _ = first.listen(rooms())
        first.answer(first.added[0].id, (0..<35).map { doc("rooms/\($0)", 10) }, at: 20)
        first.terminate()
        let world = try Harness(cacheFile: file.path, rowsOfSlice: 10)
        let listener = listen(rooms(), world, .default)
        let engine = world.engine
        after(rounds, world.scheduler) { engine.suspend {} }
        world.run()
        engine.resume()
        world.run()
        #expect(try listener.snapshot().ids.count == 35)
        #expect(engine.core.listenedQueries.count == 1)
    }

    @Test func `a disk that fails meanwhile is told, once`() throws {
        let world = try world()
        let listener = listen(Self.queries[0], world)
        let disk = world.disk
        after(2, world.scheduler) {
            disk.fail([.allocateTarget], with: .unreadable(detail: "test"))
        }
        world.run()
        let events = listener.take()
        guard case .failure(.storage)? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(!world.engine.core.isLookingThroughCache)
    }

    @Test func `figures take one step when there are blocks`() throws {
        let world = try Harness(rowsOfSlice: 200)
        let documents = (0..<3_000).map { number in
            RemoteDocument.found(doc("rooms/\(number)", 10, ["n": .integer(Int64(number))]))
        }
        _ = try world.engine.core.local.remote.apply(documents, readTime: at(20))
        for low in [-1, 999] {
            let query = rooms { $0.filter = .field(field("n"), .greaterThan, .integer(Int64(low))) }
            #expect(counts(query, world).isAtOnce == (low == 999))
            world.run()
            while world.scheduler.fire(.indexBuilding) {}
            let written = low == 999 ? 1 : 0
            #expect(counts(query, world) == (true, 2_999 - low + written))
            _ = world.write(set("rooms/new\(low)", ["n": .integer(5_000)]))
            #expect(counts(query, world) == (true, 3_000 - low + written))
        }
    }

    /// The engine is never idle in between, so no blocks are made.
    @Test func `a count of a whole collection is known at once after the first`() throws {
        let world = try Harness(rowsOfSlice: 200)
        func document(_ number: Int, at version: Int64) -> RemoteDocument {
            .found(doc("rooms/\(number)", version, ["n": .integer(Int64(number))]))
        }
        let remote = world.engine.core.local.remote
        _ = try remote.apply((0..<3_000).map { document($0, at: 10) }, readTime: at(20))
        let all = rooms { _ in }
        #expect(counts(all, world) == (false, 3_000))
        #expect(counts(all, world) == (true, 3_000))
        // The changes add a document, replace a document, then delete a document.
        _ = try remote.apply([document(5_000, at: 30), document(7, at: 30)], readTime: at(30))
        #expect(counts(all, world) == (true, 3_001))
        _ = try remote.apply([.missing(path("rooms/8"), at(40))], readTime: at(40))
        #expect(counts(all, world) == (true, 3_000))
        _ = world.write(set("rooms/own", ["n": .integer(1)]))
        #expect(counts(all, world) == (true, 3_001))
        // The counts of another query are unknown.
        let some = rooms { $0.filter = .field(field("n"), .lessThan, .integer(2_000)) }
        #expect(counts(some, world) == (false, 2_000))
    }

    /// Returns the number of rows, and true if it is known within one step.
    private func counts(_ query: Query, _ world: Harness) -> (isAtOnce: Bool, count: Int) {
        let counts = Events<Int>()
        world.engine.core.findCounts(of: [query]) { result in
            if case .success(let found) = result { counts.record(found[0]) }
        }
        let isAtOnce = !counts.all.isEmpty
        world.run()
        return (isAtOnce, counts.all.first ?? -1)
    }
}
