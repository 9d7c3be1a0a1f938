import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// Lets one read of the disk fail. The store reports an error, returns no wrong data, and works as
/// before when the disk reads again.
struct ReadFailureTests {
    private static let database = try! DatabaseID(project: "disk")
    private static let count = 120

    private func fill(_ local: LocalStore) throws {
        let documents = (0..<Self.count).map { number in
            let time = Timestamp(microseconds: Int64(number + 1))
            return RemoteDocument.found(
                Document(
                    path: DocumentPath(unchecked: "rooms/r\(number + 100)"),
                    fields: [
                        "n": .integer(Int64(number)),
                        "text": .string(String(repeating: "é", count: 1_500)),
                    ], createTime: time, updateTime: time))
        }
        _ = try local.remote.apply(documents, readTime: Timestamp(microseconds: 1_000))
        try local.store.write { transaction in
            let index = IndexDefinition(
                collectionID: "rooms", fields: [.init(FieldPath(name: "n"))])
            try transaction.documents(of: Self.database).declareIndex(index)
        }
        _ = try local.queue.enqueue(
            [Mutation(path: DocumentPath(unchecked: "rooms/w"), .set(["n": .integer(50)]))],
            at: Timestamp(microseconds: 1))
    }

    private static let queries: [Query] = [
        Query(collectionID: "rooms"),
        Query(collectionID: "rooms", orders: [Order(FieldPath(name: "n"))], limit: .first(40)),
        Query(
            collectionID: "rooms",
            filter: .field(FieldPath(name: "n"), .greaterThan, .integer(100))),
    ]

    @Test(arguments: queries.indices)
    func `a query says that it cannot read, or is right`(query: Int) throws {
        let query = Self.queries[query]
        let disk = try LossyDisk(seed: 1)
        try LossyDisk.mounted {
            let place = DocumentStore.Location.file(disk.path("cache.sqlite"))
            var store = try LocalStore(place, database: Self.database)
            try fill(store)
            let due = try store.documents.run(query)
            var failures = 0
            for reads in 0..<200 {
                // The reopened store has no pages in memory.
                try store.close()
                store = try LocalStore(place, database: Self.database)
                disk.readsBeforeFailure = reads
                do { #expect(try store.documents.run(query) == due, "read \(reads)") } catch {
                    guard case .unreadable? = StorageFault(error) else { throw error }
                    failures += 1
                }
                let hasFailed = disk.readsBeforeFailure == nil
                disk.readsBeforeFailure = nil
                #expect(try store.documents.run(query) == due, "after read \(reads)")
                try StoreInspection(store: store.store).check()
                if !hasFailed { break }
            }
            #expect(failures > 3 && failures == disk.failedReads, "\(failures)")
        }
    }

    @Test func `an engine tells it, and answers again`() throws {
        let disk = try LossyDisk(seed: 1)
        let time = VirtualScheduler()
        let environment = SyncEnvironment(
            transport: ScriptedTransport(), scheduler: time, now: { time.now }, random: { 0.5 })
        try LossyDisk.mounted {
            let configuration = SyncEngine.Configuration(
                database: Self.database, cacheFile: disk.path("cache.sqlite"))
            var engine = try SyncEngine(configuration, environment)
            try fill(engine.core.local)
            let due = try read(engine, time).get()
            #expect(due == Self.count + 1)
            engine.terminate {}
            time.runUntilIdle()
            var failures = 0
            for reads in 0..<30 {
                engine = try SyncEngine(configuration, environment)
                disk.readsBeforeFailure = reads
                switch read(engine, time) {
                case .success(let rows): #expect(rows == due)
                case .failure(.storage(.unreadable)): failures += 1
                case .failure(let error): throw error
                }
                disk.readsBeforeFailure = nil
                #expect(try read(engine, time).get() == due)
                engine.terminate {}
                time.runUntilIdle()
            }
            #expect(failures > 3, "\(failures)")
        }
    }

    private func read(
        _ engine: SyncEngine, _ time: VirtualScheduler
    ) -> Result<Int, SyncError> {
        let box = Box()
        engine.read(Query(collectionID: "rooms"), source: .cache, deadline: nil) { result in
            box.set(result.map(\.documents.count))
        }
        time.runUntilIdle()
        return box.get()
    }
}

private final class Box: Sendable {
    private let answer = Mutex<Result<Int, SyncError>?>(nil)
    func set(_ value: Result<Int, SyncError>) { answer.withLock { $0 = value } }
    func get() -> Result<Int, SyncError> { answer.withLock { $0! } }
}
