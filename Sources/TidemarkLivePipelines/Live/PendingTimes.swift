import Synchronization
import Tidemark
import TidemarkPipelines

/// The cache's state of documents whose server timestamps the server has not set yet.
enum PendingTimes: Sendable {
    /// The state of documents that have such times, or had them; nil if deleted.
    case documents([DocumentPath: ViewDocument?])
    /// The rows of a query with a limit, and the documents with such times; nil if there are none,
    /// so that the listener's rows are right.
    case rows([ViewDocument]?)
}

/// Reads the documents of a listener's collection that have server timestamps which the server has
/// not set yet. The listener's query compares such a time as a query does, and a pipeline takes the
/// device's time for it. Costs no reads, and a look at the written documents after each own write.
final class PendingTimesReader: Sendable {
    private struct State {
        var handle: (any CancellableCall)?
        var isStopped = false
        var isReading = false
        /// True if something has changed during the read.
        var mustReadAgain = false
        /// The documents that had such times at the last read.
        var pending: Set<DocumentPath> = []
    }

    private let query: QueryValue
    private let engine: SyncEngine
    private let changes: CacheChanges
    private let notify: @Sendable (PendingTimes) -> Void
    private let state = Mutex(State())

    /// - Parameter notify: Called on the engine's executor.
    init(
        _ query: QueryValue, in engine: SyncEngine,
        notify: @escaping @Sendable (PendingTimes) -> Void
    ) {
        self.query = query
        self.engine = engine
        self.notify = notify
        changes = CacheChanges(of: query, isOwnOnly: true)
    }

    func start() {
        changes.onOwnChange { [weak self] in self?.read() }
        let handle = engine.session.follow(changes)
        let isLate = state.withLock { state in
            if !state.isStopped { state.handle = handle }
            return state.isStopped
        }
        if isLate { handle.cancel() }
        read()
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            defer { state.handle = nil }
            return state.handle
        }?.cancel()
    }

    /// Reads again after the listener's rows have changed: others can change those of a limit, and
    /// another user has other documents.
    func rowsChanged() {
        if state.withLock({ !$0.pending.isEmpty || $0.isReading }) { read() }
    }

    private func read() {
        let known: [DocumentPath]? = state.withLock { state in
            if state.isStopped { return nil }
            if state.isReading {
                state.mustReadAgain = true
                return nil
            }
            state.isReading = true
            return Array(state.pending)
        }
        guard let known else { return }
        // The session is that of the present user.
        engine.session.cachedDocuments(
            at: known, andIn: changes, andWrittenIn: query
        ) { [weak self] in self?.take($0) }
    }

    private func take(_ result: Result<[DocumentPath: ViewDocument?]?, SyncError>) {
        guard case .success(let found) = result else { return end() }
        // More documents have changed than are recorded: the next read begins anew.
        guard let found else {
            state.withLock { $0.mustReadAgain = true }
            return end()
        }
        let now = Set(found.filter { $0.value?.hasPendingTimes == true }.keys)
        let before = state.withLock { state in
            defer { state.pending = now }
            return state.pending
        }
        if now.isEmpty && before.isEmpty { return end() }
        if query.limit == nil {
            notify(.documents(found.filter { now.contains($0.key) || before.contains($0.key) }))
            return end()
        }
        if now.isEmpty {
            notify(.rows(nil))
            return end()
        }
        engine.cachedSources(
            [.rows(query)], maxBytes: Pipeline.maxCachedBytes, withWords: false
        ) { [weak self] result in
            guard let self else { return }
            // If the read fails, the listener's rows are used.
            let found = try? result.get()
            notify(.rows(found?.haveMore == true ? found?.documents.first : nil))
            end()
        }
    }

    private func end() {
        let mustReadAgain = state.withLock { state in
            state.isReading = false
            defer { state.mustReadAgain = false }
            return state.mustReadAgain
        }
        if mustReadAgain { read() }
    }
}

/// The documents of a pipeline's first listener, with the device's time in place of each server
/// timestamp that the server has not set yet. The pipeline applies its first conditions, its order
/// and its limit to them again.
struct TimedDocuments: Sendable {
    private let query: PreparedQuery
    /// The documents with such times; empty if the query has a limit.
    private var pending: [DocumentPath: Document] = [:]
    /// The listener's rows, if the query has a limit.
    private var rows: [DocumentPath: Document] = [:]
    /// The cache's rows, which replace the listener's while there are such times.
    private var cached: [DocumentPath: Document]?

    init(_ query: QueryValue, in database: DatabaseID) {
        self.query = PreparedQuery(query, in: database)
    }

    private var isLimited: Bool { query.query.limit != nil }
    /// True if there are documents with such times.
    var arePending: Bool { !pending.isEmpty || cached != nil }

    /// Returns the changes of the pipeline's documents after changes of the listener's rows.
    mutating func take(_ changes: [LivePipeline.Change]) -> [LivePipeline.Change] {
        guard isLimited else {
            if pending.isEmpty { return changes }
            return changes.map { change in
                guard case .remove(let path) = change, let document = pending[path] else {
                    return change
                }
                return .set(document)
            }
        }
        for change in changes {
            switch change {
            case .set(let document): rows[document.path] = document
            case .remove(let path): rows[path] = nil
            }
        }
        return cached == nil ? changes : []
    }

    /// Returns the changes of the pipeline's documents after a look at the cache.
    mutating func take(_ times: PendingTimes) -> [LivePipeline.Change] {
        switch times {
        case .documents(let found):
            return found.sorted { $0.key < $1.key }.compactMap { take($0.key, $0.value) }
        case .rows(let found):
            let old = cached ?? rows
            cached = found.map { found in
                Dictionary(found.map { ($0.path, $0.withEstimatedTimes) }) { first, _ in first }
            }
            let new = cached ?? rows
            let gone = old.keys.filter { new[$0] == nil }.sorted()
            let changed = new.filter { old[$0.key] != $0.value }.sorted { $0.key < $1.key }
            return gone.map { .remove($0) } + changed.map { .set($0.value) }
        }
    }

    private mutating func take(
        _ path: DocumentPath, _ view: ViewDocument?
    ) -> LivePipeline.Change? {
        if let view, view.hasPendingTimes {
            let document = view.withEstimatedTimes
            pending[path] = document
            return .set(document)
        }
        guard pending.removeValue(forKey: path) != nil else { return nil }
        // From now on the listener reports the document, if it is a row.
        guard let document = view?.document, query.matches(path, document.fields) else {
            return .remove(path)
        }
        return .set(document)
    }
}
