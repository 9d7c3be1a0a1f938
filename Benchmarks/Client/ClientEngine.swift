import Foundation
import Synchronization
import TidemarkEncryption
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The real engine, cache and views on one thread, with a server that says what a step tells it to.
/// Jobs run when a step says so: no hop between threads is in what is measured.
final class ClientEngine {
    /// Whether the caches of engines that are made within are encrypted.
    @TaskLocal static var isEncrypted = false
    private static let key = CacheKey([UInt8](repeating: 7, count: CacheKey.byteCount))!

    let scheduler = VirtualScheduler()
    /// How long each job holds the engine, in real time, which is the engine's too.
    let steps: MeasuringScheduler
    let transport = ScriptedTransport()
    let engine: SyncEngine
    /// The listener that ``first(_:)`` has been answered by, and that goes with ``settle()``.
    private var answered: (any CancellableCall)?

    /// - Parameters:
    ///   - file: The cache's name in `folder`.
    ///   - cacheSizeBytes: Nil for a cache without a bound.
    init(
        _ folder: URL, file: String = "cache.sqlite", cacheSizeBytes: Int64? = 100 * 1024 * 1024
    ) throws {
        let scheduler = scheduler
        steps = MeasuringScheduler(scheduler)
        var environment = SyncEnvironment(
            transport: transport, scheduler: steps, now: { scheduler.now }, random: { 0.5 })
        if Self.isEncrypted { environment.cacheEncryption = .aes256 { Self.key } }
        engine = try SyncEngine(
            .init(
                database: Workload.database,
                cacheFile: folder.appending(path: file).path, cacheSizeBytes: cacheSizeBytes),
            environment)
        scheduler.runUntilIdle()
    }

    func close() {
        engine.terminate {}
        scheduler.runUntilIdle()
    }

    /// Has the first snapshot of a new listener to the cache computed. The listener goes at the next step,
    /// or with ``settle()``, because that is no part of its answer.
    ///
    /// - Returns: How many rows it has.
    func first(_ query: Query) -> Int {
        answered?.cancel()
        let rows = Latest()
        answered = engine.listen(query, .init(source: .cache)) { rows.set($0) }
        scheduler.runUntilIdle()
        return rows.count
    }

    func settle() {
        answered?.cancel()
        answered = nil
        scheduler.runUntilIdle()
    }

    func lookUp(_ path: DocumentPath) -> Int {
        let rows = Latest()
        engine.read(document: path, source: .cache, deadline: nil) { rows.set($0) }
        scheduler.runUntilIdle()
        return rows.count
    }

    /// What the load has left in the log, into the file, as an engine does it that nobody asks anything.
    ///
    /// - Returns: How long that held the engine, in microseconds.
    func moveLog() -> Double {
        time { while scheduler.fire(.logMoving) {} }
    }

    /// - Returns: How long each slice held the engine, in microseconds.
    func buildIndexes() -> [Double] {
        var slices: [Double] = []
        while scheduler.pendingTimers.contains(.indexBuilding) {
            slices.append(time { scheduler.fire(.indexBuilding) })
        }
        return slices
    }
}

/// What a listener was told last.
final class Latest: Sendable {
    private let state = Mutex((rows: 0, snapshots: 0))

    var count: Int { state.withLock { $0.rows } }
    var snapshots: Int { state.withLock { $0.snapshots } }

    private let countsOnly: Bool

    /// - Parameter countsOnly: Does not ask for the documents of snapshots, but for their number.
    init(countsOnly: Bool = false) { self.countsOnly = countsOnly }

    func set(_ result: Result<ViewSnapshot, SyncError>) {
        guard case .success(let snapshot) = result else { return }
        let rows = countsOnly ? snapshot.count : snapshot.documents.count
        state.withLock { $0 = (rows, $0.snapshots + 1) }
    }

    func count(_ rows: Int) { state.withLock { $0 = (rows, $0.snapshots + 1) } }

    func set(_ result: Result<ReadResult, SyncError>) {
        guard case .success(let read) = result else { return }
        state.withLock { $0 = (read.documents.count, $0.snapshots + 1) }
    }
}

/// A query that is listened to, with the server's end in the step's hand.
struct ServedListen {
    let seen: Latest
    let handle: any CancellableCall
    private let engine: ClientEngine
    private let stream: ScriptedStream<ListenRequest, ListenResponse>
    private let target: Int32

    init(_ query: Query, _ engine: ClientEngine, countsOnly: Bool = false) {
        self.engine = engine
        let seen = Latest(countsOnly: countsOnly)
        self.seen = seen
        handle = engine.engine.listen(query) { seen.set($0) }
        engine.scheduler.runUntilIdle()
        stream = engine.transport.listens.last!
        guard case .add(let asked, _)? = stream.sent.last else {
            preconditionFailure("a listen that asks nothing")
        }
        target = asked.id
        stream.push(.targetChange(TargetChange(.add, targetIDs: [target])))
    }

    /// Has the engine take in one consistent snapshot: these documents, and the word that this was all.
    ///
    /// - Parameter seconds: Of the snapshot's time; nil for that of its newest document.
    /// - Returns: How long the engine took, in microseconds. That the messages come is the wire's time.
    @discardableResult
    func serve(
        _ documents: [Document], isCurrent: Bool = false, at seconds: Int64? = nil
    ) -> Double {
        for document in documents {
            stream.push(.documentChange(DocumentChange(document, targetIDs: [target])))
        }
        if isCurrent {
            stream.push(
                .targetChange(TargetChange(.current, targetIDs: [target], resumeToken: [1])))
        }
        let newest = documents.map(\.updateTime).max() ?? .epoch
        let readTime = seconds.map { Timestamp(seconds: $0, nanoseconds: 0) } ?? newest
        stream.push(
            .targetChange(TargetChange(.noChange, resumeToken: [2], readTime: readTime)))
        return time { engine.scheduler.runUntilIdle() }
    }
}
