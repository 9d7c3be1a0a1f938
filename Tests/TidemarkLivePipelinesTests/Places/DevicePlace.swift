import Foundation
import Synchronization
import Tidemark
import TidemarkLivePipelines
import TidemarkServer
import TidemarkTestKit
import TidemarkTesting

/// A server and a device whose cache is a SQLite file, in one thread and in virtual time, so that a
/// defect that the test plants is in all parts.
///
/// The device's clock is an hour behind the server's.
final class DevicePlace {
    let thread = PlaceThread()
    private let server: FirestoreServer
    private let folder: URL
    private(set) var device: Firestore
    private var listeners: [any CancellableCall] = []
    private var dice: PipelineGenerator
    private var random: SeededRandom
    /// The documents as the device must show them while it is offline; nil while it is online.
    private var offline: [DocumentPath: OracleDocument]?
    /// The defects that a test plants in the device's engine.
    private let defects: PlantedDefects

    init(seed: UInt64, defects: PlantedDefects = []) throws {
        self.defects = defects
        dice = PipelineGenerator(seed: seed)
        random = SeededRandom(seed: seed)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidemark-place-\(UUID().uuidString)")
        let (thread, time) = (thread, thread.time)
        let bits = Mutex(SeededRandom(seed: seed))
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        server = try FirestoreServer(
            configuration,
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { bits.withLock { $0.next() } },
                executor: PlaceExecutor(thread: thread)))
        device = try Self.device(server, folder, thread, defects)
        listen()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func device(
        _ transport: any Transport, _ folder: URL, _ thread: PlaceThread,
        _ defects: PlantedDefects
    ) throws -> Firestore {
        var environment = SyncEnvironment(
            transport: transport, scheduler: PlaceScheduler(thread: thread),
            now: { thread.time.now.advanced(by: .seconds(-3_600)) }, random: { 0.5 })
        environment.defects = defects
        return try Firestore(
            projectID: PlaceRounds.database.project,
            settings: FirestoreSettings(cache: .directory(folder.path)), environment: environment)
    }

    /// Keeps all documents in the cache.
    private func listen() {
        let all = [
            QueryValue(collectionID: "c"), QueryValue(collectionID: "e"),
            QueryValue(collectionID: "s", allDescendants: true),
        ]
        listeners = all.map { device.engine.listen($0) { _ in } }
        settle()
    }

    /// Keeps the documents of one more query in the cache.
    func hold(_ query: QueryValue) {
        listeners.append(device.engine.listen(query) { _ in })
        settle()
    }

    func settle() { thread.time.advance(by: .seconds(2)) }

    func end() {
        for listener in listeners { listener.cancel() }
        device.engine.terminate {}
        settle()
        server.close()
    }

    // MARK: Documents

    /// The documents that the device must show.
    var documents: [Document] {
        guard let offline else { return stored }
        return offline.compactMap { path, document in
            document.fields.map {
                Document(path: path, fields: $0.withEstimates, times: thread.time.now)
            }
        }
    }

    /// The server's documents.
    private var stored: [Document] {
        let all = QueryValue(collectionID: nil, allDescendants: true)
        return replies(.runQuery(RunQueryRequest(query: all))).compactMap { reply in
            if case .runQuery(let row) = reply { row.document } else { nil }
        }
    }

    func replies(_ request: Request) -> [Reply] {
        thread.replies(of: server, to: request, in: PlaceRounds.database)
    }

    /// Returns the rows of a pipeline on the cache; nil if it fails for a document.
    func cachedRows(of pipeline: PipelineValue) async throws -> [NaiveRow]? {
        thread.runsAtOnce = true
        defer { thread.runsAtOnce = false }
        return try await device.naiveRows(pipeline) { (value) async throws(FirestoreError) in
            try await value.execute(source: .cache)
        }
    }

    // MARK: Writes

    /// Writes all documents anew, by another client.
    func fill(_ documents: [Document]) {
        let new = Set(documents.map(\.path))
        let gone = stored.map(\.path).filter { !new.contains($0) }
        commit(
            documents.map { Mutation(path: $0.path, .set($0.fields)) }
                + gone.map { Mutation(path: $0, .delete) })
    }

    /// Changes some documents, by another client.
    func changeByOther() { commit((0...roll(2)).map { _ in mutation() }) }

    private func commit(_ mutations: [Mutation]) {
        var seen: Set<DocumentPath> = []
        let each = mutations.filter { seen.insert($0.path).inserted }
        _ = replies(.commit(CommitRequest(mutations: each)))
        settle()
    }

    /// Changes some documents, by the device.
    func changeByDevice() {
        var seen: Set<DocumentPath> = []
        write(
            (0...roll(2)).map { _ in mutation() }.filter { seen.insert($0.path).inserted })
    }

    /// Writes by the device.
    func write(_ mutations: [Mutation]) {
        device.engine.write(mutations) { _ in }
        thread.time.runUntilIdle()
        let now = device.environment.now()
        for mutation in mutations where offline != nil {
            var document =
                offline?[mutation.path] ?? OracleDocument(fields: nil, version: nil)
            document.apply(mutation, at: now)
            offline?[mutation.path] = document
        }
        settle()
    }

    private func roll(_ highest: Int) -> Int { Int.random(in: 0...highest, using: &random) }

    private func mutation() -> Mutation {
        let (path, fields) = dice.change()
        guard let fields = fields?.withoutNestedArrays else {
            return Mutation(path: path, .delete)
        }
        let a = FieldPath(name: "a")
        let isThere = documents.contains { $0.path == path }
        switch roll(5) {
        case 0, 1:
            return Mutation(
                path: path, .set(fields), transforms: [FieldTransform(a, .serverTimestamp)])
        case 2 where isThere:
            let mask = ["n", "s", "b"].map { FieldPath(name: $0) }
            var some = MapValue()
            for name in ["n", "s", "b"] { some[name] = fields[name] }
            let list = FieldTransform(FieldPath(name: "l"), .arrayUnion([.integer(1)]))
            return Mutation(
                path: path, .patch(some, mask: mask), transforms: [list],
                precondition: .exists(true))
        case 3 where isThere:
            let number = FieldTransform(FieldPath(name: "n"), .increment(.integer(1)))
            return Mutation(
                path: path, .patch([:], mask: []), transforms: [number],
                precondition: .exists(true))
        default: return Mutation(path: path, .set(fields))
        }
    }

    // MARK: The network

    var isOffline: Bool { offline != nil }

    func disconnect() {
        offline = stored.reduce(into: [:]) { held, document in
            held[document.path] = OracleDocument(
                fields: document.fields, version: document.updateTime)
        }
        device.engine.setNetworkEnabled(false) {}
        settle()
    }

    func connect() {
        device.engine.setNetworkEnabled(true) {}
        offline = nil
        settle()
    }

    /// Opens the file again, as a new process does.
    ///
    /// - Parameter withServer: False for a process whose calls have no answer.
    func reopen(withServer: Bool) throws {
        device.engine.terminate {}
        settle()
        device = try Self.device(
            withServer ? server : ScriptedTransport(), folder, thread, defects)
        if withServer { offline = nil }
        listen()
    }
}

extension Document {
    fileprivate init(path: DocumentPath, fields: MapValue, times: Timestamp) {
        self.init(path: path, fields: fields, createTime: times, updateTime: times)
    }
}

extension MapValue {
    /// The fields with the time of the write where the server's time is not known.
    fileprivate var withEstimates: MapValue {
        MapValue(
            map { entry in
                guard case .pendingServerTimestamp(let time, _) = entry.value else {
                    return (entry.key, entry.value)
                }
                return (entry.key, .timestamp(time))
            })
    }
}
