import Foundation
import Synchronization
import TidemarkEncryption
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The real engine, cache and views on one thread, with a scripted server. Jobs run only when a
/// step runs them, so the measured times include no switch of threads.
final class ClientEngine {
    /// True if the caches of new engines are encrypted.
    @TaskLocal static var isEncrypted = false
    private static let key = CacheKey([UInt8](repeating: 7, count: CacheKey.byteCount))!

    let scheduler = VirtualScheduler()
    /// Measures the time for which each job holds the engine, in real time.
    let steps: MeasuringScheduler
    let transport = ScriptedTransport()
    let engine: SyncEngine
    /// The listener that ``first(_:)`` created; ``settle()`` cancels it.
    private var answered: (any CancellableCall)?

    /// - Parameters:
    ///   - file: The cache's name in `folder`.
    ///   - cacheSizeBytes: The limit of the cache's size; nil for no limit.
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

    /// Computes the first snapshot of a new listener to the cache. The listener is cancelled later,
    /// by the next step or by ``settle()``, because this is no part of its answer.
    ///
    /// - Returns: The number of rows.
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

    /// Moves the content of the log into the file, as an idle engine does.
    ///
    /// - Returns: The time for which this held the engine, in microseconds.
    func moveLog() -> Double {
        time { while scheduler.fire(.logMoving) {} }
    }

    /// - Returns: The times for which the slices held the engine, in microseconds.
    func buildIndexes() -> [Double] {
        var slices: [Double] = []
        while scheduler.pendingTimers.contains(.indexBuilding) {
            slices.append(time { scheduler.fire(.indexBuilding) })
        }
        return slices
    }
}

/// The last result of a listener.
final class Latest: Sendable {
    private let state = Mutex((rows: 0, snapshots: 0))

    var count: Int { state.withLock { $0.rows } }
    var snapshots: Int { state.withLock { $0.snapshots } }

    private let countsOnly: Bool

    /// - Parameter countsOnly: True to read only the number of a snapshot's documents, and not the
    ///   documents.
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

/// A query with a listener, and the server's end of its stream.
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

    /// Sends one consistent snapshot to the engine: the documents, and the message that it is
    /// complete.
    ///
    /// - Parameter seconds: The snapshot's time; nil for that of its newest document.
    /// - Returns: The engine's time in microseconds. Receiving the messages is not included.
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
