import Synchronization
package import Tidemark
import TidemarkPipelines

/// Listens to the sources of a pipeline, and computes its rows after each change on a background
/// queue. Changes that arrive during a computation are taken together by the next one.
package final class PipelineListener: Sendable {
    package typealias Observer = @Sendable (Result<LiveRows, FirestoreError>) -> Void

    fileprivate enum Item {
        /// A snapshot of one source.
        case view(source: Int, Result<ViewSnapshot, SyncError>)
        /// A look at the cache, for the first source.
        case times(PendingTimes)
    }

    private struct Inbox {
        var items: [Item] = []
        /// True while a job on the queue will take the items.
        var isScheduled = false
        var handles: [any CancellableCall] = []
        var times: PendingTimesReader?
        var isStopped = false
    }

    /// The state of the computation, which only the queue uses.
    fileprivate struct State {
        var live: LivePipeline
        var sources: LiveSources
        /// The documents of the first source; nil if it has no conditions, order or limit.
        var timed: TimedDocuments?
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
        let (count, options, database) = (queries.count, options, client.database)
        let selecting = plan.selectingQuery
        state.withLock { state in
            state = State(
                live: LivePipeline(plan.pipeline, sourceCount: count),
                sources: LiveSources(count: count, options),
                timed: selecting.map { TimedDocuments($0, in: database) },
                searches: plan.sources.compactMap { source in
                    if case .words(let query, _) = source { query } else { nil }
                })
        }
        if let selecting { readTimes(of: selecting) }
        return queries
    }

    /// Prepares the looks at documents whose server timestamps are pending.
    private func readTimes(of query: QueryValue) {
        let reader = PendingTimesReader(query, in: client.engine) { [weak self] in
            self?.take(.times($0))
        }
        inbox.withLock { $0.times = reader }
    }

    private func listen(to queries: [QueryValue]) {
        // Snapshots of metadata show when the rows of a listener become the server's.
        let options = SyncEngine.ListenOptions(
            includeMetadataChanges: true,
            source: options.source == .cache ? .cache : .default, tag: client.tag)
        let times = inbox.withLock(\.times)
        times?.start()
        let handles = queries.enumerated().map { source, query in
            client.listen(query, options) { [weak self] in
                self?.take(.view(source: source, $0))
                if source == 0 { times?.rowsChanged() }
            }
        }
        let isLate = inbox.withLock { inbox in
            if !inbox.isStopped { inbox.handles = handles }
            return inbox.isStopped
        }
        if isLate {
            times?.stop()
            for handle in handles { handle.cancel() }
        }
    }

    /// Ends the listeners and a computation in progress. The observer is not called afterwards.
    package func stop() {
        evaluation.cancel()
        let (handles, times) = inbox.withLock { inbox in
            inbox.isStopped = true
            inbox.items = []
            defer { (inbox.handles, inbox.times) = ([], nil) }
            return (inbox.handles, inbox.times)
        }
        times?.stop()
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
        for item in items {
            let (source, changes) = try current.take(item, now: now)
            do throws(PipelineError) {
                try current.live.step(changes, of: source, in: context)
            } catch { throw FirestoreError(error.status) }
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
            words: current.words, hasPendingTimes: current.timed?.arePending == true, now: now)
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

extension PipelineListener.State {
    /// Returns the changes of a source's documents.
    fileprivate mutating func take(
        _ item: PipelineListener.Item, now: Timestamp
    ) throws(FirestoreError) -> (source: Int, changes: [LivePipeline.Change]) {
        switch item {
        case .times(let times): return (0, timed?.take(times) ?? [])
        case .view(_, .failure(let error)): throw FirestoreError(error)
        case .view(let source, .success(let view)):
            sources.take(view, of: source, now: now)
            let changes = view.pipelineChanges
            return (source, source == 0 ? timed?.take(changes) ?? changes : changes)
        }
    }
}
