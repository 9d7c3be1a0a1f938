import Dispatch
import Synchronization
import Tidemark
import TidemarkPipelines

/// Listens to the sources of a pipeline, and computes its rows after each change on a background
/// queue. Changes that arrive during a computation are taken together by the next one.
final class PipelineListener: Sendable {
    typealias Observer = @Sendable (Result<Pipeline.Snapshot, FirestoreError>) -> Void

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
        let firestore: Firestore
        var live: LivePipeline
        var sources: LiveSources
        var last: Pipeline.Snapshot?
        /// The collections that are searched, and the fields in which.
        let searches: [QueryValue]
        var words: [WordIndexDefinition] = []
    }

    private let pipeline: Pipeline
    private let options: SnapshotListenOptions
    private let observer: Observer
    private let queue = DispatchQueue(label: "tidemark.pipeline", qos: .userInitiated)
    private let evaluation = Evaluation()
    private let inbox = Mutex(Inbox())
    private let state = Mutex<State?>(nil)

    /// The maximum number of documents of a `documents` source: each has a listener.
    static let maxDocuments = 100

    init(_ pipeline: Pipeline, options: SnapshotListenOptions, observer: @escaping Observer) {
        self.pipeline = pipeline
        self.options = options
        self.observer = observer
    }

    func start() {
        do throws(FirestoreError) {
            let (firestore, value) = try pipeline.runnable()
            let plan = try SourcePlan(value, in: firestore.databaseID)
            let queries = try queries(plan, firestore)
            guard plan.pipeline.searches else { return listen(to: queries, firestore) }
            firestore.engine.searchedWords { [self] result in
                switch result {
                case .failure(let error): observer(.failure(FirestoreError(error)))
                case .success(let words):
                    state.withLock { $0?.words = words }
                    listen(to: queries, firestore)
                }
            }
        } catch { observer(.failure(error)) }
    }

    /// Returns the queries to listen to, and prepares the computation.
    private func queries(
        _ plan: SourcePlan, _ firestore: Firestore
    ) throws(FirestoreError) -> [QueryValue] {
        var queries: [QueryValue] = []
        for source in plan.sources {
            switch source {
            case .rows(let query), .words(let query, _): queries.append(query)
            case .documents(let paths):
                if paths.count > Self.maxDocuments {
                    throw .invalidArgument(
                        """
                        A live pipeline can listen to at most \(Self.maxDocuments) documents by \
                        name. Use a collection with a where.
                        """)
                }
                queries += paths.map { QueryValue.document($0, in: firestore.databaseID) }
            }
        }
        if queries.isEmpty {
            throw .invalidArgument("A pipeline of literals alone never changes.")
        }
        let (count, options) = (queries.count, options)
        state.withLock { state in
            state = State(
                firestore: firestore,
                live: LivePipeline(plan.pipeline, sourceCount: count),
                sources: LiveSources(count: count, options),
                searches: plan.sources.compactMap { source in
                    if case .words(let query, _) = source { query } else { nil }
                })
        }
        return queries
    }

    private func listen(to queries: [QueryValue], _ firestore: Firestore) {
        // Snapshots of metadata show when the rows of a listener become the server's.
        let options = SyncEngine.ListenOptions(
            includeMetadataChanges: true,
            source: options.source == .cache ? .cache : .default, tag: pipeline.tag.inScope)
        let handles = queries.enumerated().map { source, query in
            firestore.engine.listen(query, options) { [weak self] in self?.take((source, $0)) }
        }
        let isLate = inbox.withLock { inbox in
            if !inbox.isStopped { inbox.handles = handles }
            return inbox.isStopped
        }
        if isLate { for handle in handles { handle.cancel() } }
    }

    /// Ends the listeners and a computation in progress. The observer is not called afterwards.
    func stop() {
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
        if mustSchedule { queue.async { [self] in compute() } }
    }

    private func compute() {
        let items = inbox.withLock { inbox in
            inbox.isScheduled = false
            defer { inbox.items = [] }
            return inbox.items
        }
        if items.isEmpty { return }
        let result = state.withLock { state -> Result<Pipeline.Snapshot?, FirestoreError> in
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
    ) throws(FirestoreError) -> Pipeline.Snapshot? {
        guard var current = state.take() else { return nil }
        let context = evaluation.context(current.firestore, words: current.words)
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
        let firestore = current.firestore
        let snapshot = Self.snapshot(
            rows.map { PipelineResult(firestore, $0) }, of: current, now: now)
        let isNew = current.last.map { isNews(snapshot, after: $0) } ?? true
        if isNew { current.last = snapshot }
        state = current
        return isNew ? snapshot : nil
    }

    private static func snapshot(
        _ results: [PipelineResult], of state: State, now: Timestamp
    ) -> Pipeline.Snapshot {
        let freshness = state.sources.freshness(now: now)
        var time = now
        if case .fresh(let readTime) = freshness { time = readTime }
        return Pipeline.Snapshot(
            results, executionTime: time, freshness: freshness,
            hasPendingWrites: state.sources.havePendingWrites,
            searched: state.searches.map { query in
                SearchedDocuments(
                    query, words: state.words, usesIndex: false,
                    completeAt: state.sources.readTime)
            })
    }

    private func isNews(_ new: Pipeline.Snapshot, after old: Pipeline.Snapshot) -> Bool {
        if old.results != new.results { return true }
        return options.includeMetadataChanges && old.metadata != new.metadata
    }
}
