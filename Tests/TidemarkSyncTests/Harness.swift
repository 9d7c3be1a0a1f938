import Synchronization
import Testing
import TidemarkModel
import TidemarkTesting
import TidemarkTestKit

@testable import TidemarkSync

/// An engine, a server played by the test, and virtual time.
final class Harness {
    static let database = try! DatabaseID(project: "test-project")

    let scheduler: VirtualScheduler
    let transport = ScriptedTransport()
    let disk: FaultyDisk<StorageStep>
    let engine: SyncEngine

    init(
        cacheFile: String? = nil, scheduler: VirtualScheduler = VirtualScheduler(),
        disk: FaultyDisk<StorageStep> = FaultyDisk<StorageStep>(), user: String? = nil,
        sharesCache: Bool = false,
        maxLimbo: Int = 100, maxPendingWrites: Int = 100_000, cacheSize: Int64? = 100 << 20,
        readBudgets: [ReadBudget] = [], stormBounds: StormBreaker.Bounds = .init(),
        rowsOfSlice: Int? = nil
    ) throws {
        self.scheduler = scheduler
        self.disk = disk
        var environment = SyncEnvironment(
            transport: transport, scheduler: scheduler, now: { scheduler.now }, random: { 0.5 })
        environment.storageFault = disk.fault
        if let rowsOfSlice { environment.rowsOfSlice = rowsOfSlice }
        var configuration = SyncEngine.Configuration(
            database: Self.database, cacheFile: cacheFile, user: user,
            sharesCacheBetweenUsers: sharesCache, label: "test",
            maxLimboResolutions: maxLimbo, maxPendingWrites: maxPendingWrites,
            cacheSizeBytes: cacheSize)
        configuration.readBudgets = readBudgets
        configuration.stormBounds = stormBounds
        engine = try SyncEngine(configuration, environment)
        run()
    }

    func run() { scheduler.runUntilIdle() }

    // MARK: Listening

    func listen(
        _ query: Query, metadata: Bool = false, source: ReadSource = .default
    ) -> Listener {
        let listener = Listener()
        listener.handle = engine.listen(
            query, .init(includeMetadataChanges: metadata, source: source)
        ) { listener.record($0) }
        run()
        return listener
    }

    var stream: ScriptedStream<ListenRequest, ListenResponse> { transport.listens.last! }

    /// The targets that were added to the newest stream, in order.
    var added: [ListenTarget] {
        stream.sent.compactMap { if case .add(let target, _) = $0 { target } else { nil } }
    }

    var removed: [Int32] {
        stream.sent.compactMap { if case .remove(let id) = $0 { id } else { nil } }
    }

    func push(_ messages: ListenResponse...) {
        for message in messages { stream.push(message) }
        run()
    }

    /// Plays a whole answer: the target's acknowledgement, documents, `current`, one snapshot.
    func answer(_ wireID: Int32, _ documents: [Document], at time: Int64, token: [UInt8] = [1]) {
        push(.targetChange(TargetChange(.add, targetIDs: [wireID])))
        for document in documents {
            push(.documentChange(DocumentChange(document, targetIDs: [wireID])))
        }
        push(
            .targetChange(
                TargetChange(.current, targetIDs: [wireID], resumeToken: token, readTime: at(time)))
        )
        snapshot(time)
    }

    func snapshot(_ time: Int64) {
        push(.targetChange(TargetChange(.noChange, readTime: at(time))))
    }

    // MARK: Writing

    func write(_ mutations: Mutation...) -> Events<SyncEngine.WriteEvent> {
        let events = Events<SyncEngine.WriteEvent>()
        engine.write(mutations) { events.record($0) }
        run()
        return events
    }

    var writeStream: ScriptedStream<WriteRequest, WriteResponse> { transport.writes.last! }

    func shakeHands() {
        writeStream.push(WriteResponse(streamToken: [9]))
        run()
    }

    func acknowledge(at time: Int64, _ results: MutationResult...) {
        let results = results.isEmpty ? [MutationResult(updateTime: at(time))] : results
        writeStream.push(
            WriteResponse(streamToken: [9], results: results, commitTime: at(time)))
        run()
    }

    // MARK: Reading

    func read(
        _ path: DocumentPath, source: ReadSource = .default, deadline: Duration? = .seconds(2)
    ) -> Events<Result<ReadResult, SyncError>> {
        let events = Events<Result<ReadResult, SyncError>>()
        engine.read(document: path, source: source, deadline: deadline) { events.record($0) }
        run()
        return events
    }

    func read(
        _ query: Query, source: ReadSource = .default, deadline: Duration? = .seconds(2)
    ) -> Events<Result<ReadResult, SyncError>> {
        let events = Events<Result<ReadResult, SyncError>>()
        engine.read(query, source: source, deadline: deadline) { events.record($0) }
        run()
        return events
    }

    func terminate() {
        engine.terminate {}
        run()
    }
}

/// Records the values that a closure receives, in order.
final class Events<Event: Sendable>: Sendable {
    private let state = Mutex<[Event]>([])
    var all: [Event] { state.withLock { $0 } }
    func record(_ event: Event) { state.withLock { $0.append(event) } }
}

/// A listener's events since the last call of `take()`.
final class Listener: Sendable {
    private let state = Mutex<[Result<ViewSnapshot, SyncError>]>([])
    private let handleBox = Mutex<(any CancellableCall)?>(nil)

    var handle: (any CancellableCall)? {
        get { handleBox.withLock { $0 } }
        set { handleBox.withLock { $0 = newValue } }
    }

    func record(_ event: Result<ViewSnapshot, SyncError>) { state.withLock { $0.append(event) } }

    func take() -> [Result<ViewSnapshot, SyncError>] {
        state.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Returns the only snapshot that arrived since the last call of `take()`.
    func snapshot(sourceLocation: SourceLocation = #_sourceLocation) throws -> ViewSnapshot {
        let events = take()
        try #require(events.count == 1, "events: \(events)", sourceLocation: sourceLocation)
        return try events[0].get()
    }
}

func at(_ time: Int64) -> Timestamp { Timestamp(microseconds: time) }
func path(_ text: String) -> DocumentPath { try! DocumentPath(text) }
func field(_ name: String) -> FieldPath { FieldPath(name: name) }

func doc(_ name: String, _ version: Int64, _ fields: MapValue = [:]) -> Document {
    Document(path: path(name), fields: fields, createTime: at(1), updateTime: at(version))
}

func rooms(_ change: (inout Query) -> Void = { _ in }) -> Query {
    var query = Query(collectionID: "rooms")
    change(&query)
    return query
}

func set(_ name: String, _ fields: MapValue) -> Mutation {
    Mutation(path: path(name), .set(fields))
}

extension ViewSnapshot {
    var ids: [String] { documents.map(\.path.id) }
    func fields(_ name: String) -> MapValue? {
        documents.first { $0.path == path(name) }?.document.fields
    }
    var summary: [String] { changes.map { "\($0.kind) \($0.document.path.id)" } }
}

extension ReadResult {
    var ids: [String] { documents.map(\.path.id) }
}
