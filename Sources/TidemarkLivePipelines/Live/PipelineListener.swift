import Synchronization
package import Tidemark
import TidemarkPipelines

/// Listens to the sources of a pipeline, and computes its rows after each change on a background
/// queue. Changes that arrive during a computation are taken together by the next one.
package final class PipelineListener: Sendable {
    package typealias Observer = @Sendable (Result<LiveRows, FirestoreError>) -> Void

    /// A snapshot of one source.
    private typealias Item = (source: Int, result: Result<ViewSnapshot, SyncError>)

    private struct Inbox {
        var items: [Item] = []
        /// True while a job on the queue will take the items.
        var isScheduled = false
        var handles: [any CancellableCall] = []
        var isStopped = false
    }

    /// The state of the computation, which only the queue uses.
    private struct State {
        var live: LivePipeline
        var sources: LiveSources
        var last: LiveRows?
        /// The collections that are searched, and the fields in which.
        let searches: [QueryValue]
        var words: [WordIndexDefinition] = []
    }

    private let pipeline: PipelineValue
    private let client: LiveClient
    private let options: SnapshotListenOptions
    private let observer: Observer
    private let evaluation = Evaluation()
    private let inbox = Mutex(Inbox())
    private let state = Mutex<State?>(nil)

    package init(
        _ pipeline: PipelineValue, of client: LiveClient, options: SnapshotListenOptions,
        observer: @escaping Observer
    ) {
        self.pipeline = pipeline
        self.client = client
        self.options = options
        self.observer = observer
    }

    package func start() {
        do throws(FirestoreError) {
            let plan = try SourcePlan(pipeline, in: client.database)
            let queries = try queries(plan)
            guard plan.pipeline.searches else { return listen(to: queries) }
            client.engine.searchedWords { [self] result in
                switch result {
                case .failure(let error): observer(.failure(FirestoreError(error)))
                case .success(let words):
                    state.withLock { $0?.words = words }
                    listen(to: queries)
                }
            }
        } catch { observer(.failure(error)) }
    }

    /// Returns the queries to listen to, and prepares the computation.
    private func queries(_ plan: SourcePlan) throws(FirestoreError) -> [QueryValue] {
        var queries = try plan.listenedSources(in: client.database).map(\.query)
        #if TIDEMARK_DEFECTS
            if BillDefect.planted == .wholeCollections {
                queries = queries.map { query in
                    var query = query
                    (query.filter, query.orders, query.limit) = (nil, [], nil)
                    return query
                }
            }
        #endif
        let (count, options) = (queries.count, options)
        state.withLock { state in
            state = State(
                live: LivePipeline(plan.pipeline, sourceCount: count),
                sources: LiveSources(count: count, options),
                searches: plan.sources.compactMap { source in
                    if case .words(let query, _) = source { query } else { nil }
                })
        }
        return queries
    }

    private func listen(to queries: [QueryValue]) {
        // Snapshots of metadata show when the rows of a listener become the server's.
        let options = SyncEngine.ListenOptions(
            includeMetadataChanges: true,
            source: options.source == .cache ? .cache : .default, tag: client.tag)
        let handles = queries.enumerated().map { source, query in
            client.listen(query, options) { [weak self] in self?.take((source, $0)) }
        }
        let isLate = inbox.withLock { inbox in
            if !inbox.isStopped { inbox.handles = handles }
            return inbox.isStopped
        }
        if isLate { for handle in handles { handle.cancel() } }
    }

    /// Ends the listeners and a computation in progress. The observer is not called afterwards.
    package func stop() {
        evaluation.cancel()
        let handles = inbox.withLock { inbox in
            inbox.isStopped = true
            inbox.items = []
            defer { inbox.handles = [] }
            return inbox.handles
        }
        for handle in handles { handle.cancel() }
    }

    /// Takes a snapshot on the engine's executor.
    private func take(_ item: Item) {
        let mustSchedule = inbox.withLock { inbox in
            if inbox.isStopped { return false }
            inbox.items.append(item)
            defer { inbox.isScheduled = true }
            return !inbox.isScheduled
        }
        if mustSchedule { client.run { [self] in compute() } }
    }

    private func compute() {
        let items = inbox.withLock { inbox in
            inbox.isScheduled = false
            defer { inbox.items = [] }
            #if TIDEMARK_DEFECTS
                if LiveDefect.planted == .waitingSnapshotsLost {
                    return Array(inbox.items.suffix(1))
                }
            #endif
            return inbox.items
        }
        if items.isEmpty { return }
        let result = state.withLock { state -> Result<LiveRows?, FirestoreError> in
            Result { () throws(FirestoreError) in try step(&state, items) }
        }
        switch result {
        case .success(nil): break
        case .success(let snapshot?): observer(.success(snapshot))
        case .failure(let error):
            let isStopped = inbox.withLock(\.isStopped)
            stop()
            if !isStopped { observer(.failure(error)) }
        }
    }

    /// Returns the rows after the items; nil if there is nothing new to tell.
    private func step(
        _ state: inout State?, _ items: [Item]
    ) throws(FirestoreError) -> LiveRows? {
        guard var current = state.take() else { return nil }
        let context = evaluation.context(
            client.database, client.environment, words: current.words)
        let now = context.now
        for (source, result) in items {
            switch result {
            case .failure(let error): throw FirestoreError(error)
            case .success(let view):
                current.sources.take(view, of: source, now: now)
                do throws(PipelineError) {
                    try current.live.step(view.pipelineChanges, of: source, in: context)
                } catch { throw FirestoreError(error.status) }
            }
        }
        guard current.sources.areKnown else {
            state = current
            return nil
        }
        let rows: [PipelineRow]
        do throws(PipelineError) { rows = try current.live.rows(in: context) } catch {
            throw FirestoreError(error.status)
        }
        let news = LiveRows(
            rows.map(LiveRows.Row.init), sources: current.sources, searches: current.searches,
            words: current.words, now: now)
        let isNew = current.last.map { isNews(news, after: $0) } ?? true
        if isNew { current.last = news }
        state = current
        return isNew ? news : nil
    }

    private func isNews(_ new: LiveRows, after old: LiveRows) -> Bool {
        if old.rows != new.rows { return true }
        return options.includeMetadataChanges
            && (old.freshness != new.freshness || old.hasPendingWrites != new.hasPendingWrites)
    }
}
