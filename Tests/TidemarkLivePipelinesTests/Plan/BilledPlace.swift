import Foundation
import Synchronization
import TestSupport
import Tidemark
import TidemarkLivePipelines
import TidemarkServer
import TidemarkTesting

/// A server and a device in one thread and in virtual time, whose bill a test compares.
final class BilledPlace {
    private static let database = try! DatabaseID(project: "billed")
    /// An index for each pipeline of ``BilledPipeline``.
    private static let indexes = """
        {"indexes": [
          {"collectionGroup": "c", "fields": [{"fieldPath": "kind", "order": "ASCENDING"}]},
          {"collectionGroup": "c", "fields": [{"fieldPath": "n", "order": "ASCENDING"}]},
          {"collectionGroup": "c", "fields": [{"fieldPath": "n", "order": "DESCENDING"}]},
          {"collectionGroup": "c", "fields": [
            {"fieldPath": "kind", "order": "ASCENDING"},
            {"fieldPath": "n", "order": "DESCENDING"}]},
          {"collectionGroup": "s", "queryScope": "COLLECTION_GROUP", "fields": [
            {"fieldPath": "n", "order": "ASCENDING"}]}]}
        """

    let edition: DatabaseEdition
    let thread = PlaceThread()
    private let server: FirestoreServer
    private let folder: URL
    private(set) var device: Firestore

    init(seed: UInt64, _ edition: DatabaseEdition, isIndexed: Bool) throws {
        self.edition = edition
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidemark-billed-\(UUID().uuidString)")
        let time = thread.time
        let bits = Mutex(SeededRandom(seed: seed))
        var configuration = FirestoreServer.Configuration()
        configuration.history = .seconds(1_800)
        configuration.editions = DatabaseEditions(edition)
        if isIndexed {
            configuration.indexes = IndexSettings(
                try IndexConfiguration(json: Data(Self.indexes.utf8)))
        }
        server = try FirestoreServer(
            configuration,
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { bits.withLock { $0.next() } },
                executor: PlaceExecutor(thread: thread)))
        device = try Self.device(server, folder, thread)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func device(
        _ server: FirestoreServer, _ folder: URL, _ thread: PlaceThread
    ) throws -> Firestore {
        let environment = SyncEnvironment(
            transport: server, scheduler: PlaceScheduler(thread: thread),
            now: { thread.time.now }, random: { 0.5 })
        return try Firestore(
            projectID: database.project,
            settings: FirestoreSettings(cache: .directory(folder.path), label: "app"),
            environment: environment)
    }

    /// Opens the file again, as a new process does.
    func launch() throws {
        device.engine.terminate {}
        settle()
        device = try Self.device(server, folder, thread)
    }

    func end() {
        device.engine.terminate {}
        settle()
        server.close()
    }

    var now: Timestamp { thread.time.now }
    func settle() { thread.time.advance(by: .seconds(2)) }
    func advance(by duration: Duration) { thread.time.advance(by: duration) }

    /// The bill of the device so far, without writes.
    var bill: PlannedBill {
        let row = server.meter().first { $0.label == "app" }
        var units = row?.units ?? BilledUnits()
        units.write = 0
        return PlannedBill(reads: row?.reads ?? 0, units: units)
    }

    /// True if the bill is as planned: in reads, or in the units of the Enterprise edition.
    func isBilled(_ due: PlannedBill) -> Bool {
        edition == .standard ? bill.reads == due.reads : bill.units == due.units
    }

    /// The documents on the server.
    var documents: [Document] {
        let all = QueryValue(collectionID: nil, allDescendants: true)
        return replies(.runQuery(RunQueryRequest(query: all))).compactMap { reply in
            if case .runQuery(let row) = reply { row.document } else { nil }
        }
    }

    /// Writes documents on the server, by another client.
    func commit(_ mutations: [Mutation]) {
        _ = replies(.commit(CommitRequest(mutations: mutations)))
        settle()
    }

    /// Writes documents by the device.
    func write(_ mutations: [Mutation]) {
        device.engine.write(mutations) { _ in }
        settle()
    }

    /// Opens the device's stream of writes by a write that no pipeline reads.
    func openWrites() {
        write([Mutation(path: DocumentPath(unchecked: "bells/own"), .set([:]))])
    }

    private func replies(_ request: Request) -> [Reply] {
        thread.replies(of: server, to: request, in: Self.database)
    }

    /// Returns the plan of a pipeline.
    func plan(
        _ pipeline: Pipeline, of documents: [ExpectedSourceDocument],
        lastUse: ClosedRange<Timestamp>?, isIndexed: Bool
    ) async throws -> LivePipelinePlan {
        thread.runsAtOnce = true
        defer { thread.runsAtOnce = false }
        return try await pipeline.plan(
            of: documents, at: now, lastUse: lastUse, isIndexed: isIndexed)
    }

    /// Starts a live pipeline.
    func listen(to pipeline: Pipeline) throws -> Live {
        let (device, thread) = (device, thread)
        let client = LiveClient(
            engine: device.engine, database: device.databaseID, environment: device.environment,
            listen: { device.engine.listen($0, $1, observer: $2) },
            run: { thread.enqueue($0) })
        return Live(try pipeline.value.get(), client)
    }

    /// A live pipeline with its newest result.
    final class Live {
        private let newest = Box()
        private let listener: PipelineListener

        init(_ pipeline: PipelineValue, _ client: LiveClient) {
            let newest = newest
            listener = PipelineListener(
                pipeline, of: client,
                options: SnapshotListenOptions(includeMetadataChanges: true)
            ) { newest.put($0) }
            listener.start()
        }

        /// True if the server has confirmed the rows.
        var isFresh: Bool { newest.rows?.freshness.isFresh == true }
        func stop() { listener.stop() }
    }

    private final class Box: Sendable {
        private let state = Mutex<Result<LiveRows, FirestoreError>?>(nil)
        var rows: LiveRows? { state.withLock { try? $0?.get() } }
        func put(_ result: Result<LiveRows, FirestoreError>) { state.withLock { $0 = result } }
    }
}
