import Tidemark
import TidemarkLivePipelines
import TidemarkModel
import TidemarkTestKit

/// A live pipeline of an app, and the rows that it shows.
final class WorldLive {
    let pipeline: WorldPipeline
    let tellsMetadata: Bool
    private var listener: PipelineListener?
    /// The newest snapshot of each of the pipeline's listeners.
    private(set) var views: [ViewSnapshot?] = []
    /// Computations that have not run yet.
    private var jobs: [LiveClient.Job] = []
    private(set) var shown: LiveRows?
    private(set) var failure: FirestoreError?
    /// True until the rows of this process were compared.
    var isNew = true
    /// True if a process before this one had the pipeline.
    private(set) var wasKilled = false

    init(_ pipeline: WorldPipeline, tellsMetadata: Bool) {
        self.pipeline = pipeline
        self.tellsMetadata = tellsMetadata
    }

    /// - Parameters:
    ///   - delay: Returns the time until a computation runs.
    ///   - heard: Called with each result.
    func start(
        _ engine: SyncEngine, on client: WorldClient, delay: @escaping () -> Duration,
        heard: @escaping (WorldLive) -> Void
    ) {
        (views, jobs, shown, failure) = ([], [], nil, nil)
        let process = client.process
        // A stopped pipeline is gone while a computation of it is still scheduled.
        let box = WorldBox { [weak self] in (live: self, delay: delay, heard: heard) }
        let parts = LiveClient(
            engine: engine, database: World.database, environment: client.environment(),
            listen: { query, options, observer in
                let live = box.value().live
                let place = live?.views.count ?? 0
                live?.views.append(nil)
                return engine.listen(query, options) { event in
                    guard process.isAlive else { return }
                    if case .success(let view) = event { box.value().live?.took(view, place) }
                    observer(event)
                }
            },
            run: { job in
                guard process.isAlive else { return }
                let (live, delay, _) = box.value()
                live?.jobs.append(job)
                process.after(delay()) { box.value().live?.runJobs() }
            })
        let made = PipelineListener(
            pipeline.value, of: parts,
            options: SnapshotListenOptions(includeMetadataChanges: tellsMetadata)
        ) { result in
            let (found, _, heard) = box.value()
            guard let live = found else { return }
            switch result {
            case .success(let rows): live.shown = rows
            case .failure(let error): live.failure = error
            }
            heard(live)
        }
        listener = made
        made.start()
    }

    private func took(_ view: ViewSnapshot, _ place: Int) {
        if place < views.count { views[place] = view }
    }

    /// Runs the computations that wait.
    func runJobs() {
        while !jobs.isEmpty { jobs.removeFirst()() }
    }

    func stop() {
        listener?.stop()
        drop()
    }

    /// Drops what a killed process had.
    func drop() {
        (listener, views, jobs, shown, failure) = (nil, [], [], nil, nil)
        isNew = true
        wasKilled = true
    }

    /// The rows in the form of the tests' own evaluator; nil before the first.
    var rows: [NaiveRow]? {
        shown?.rows.map { NaiveRow(path: $0.path?.text, fields: $0.fields) }
    }

    /// True if the pipeline is not valid, or failed for a document.
    var isRefused: Bool { failure?.code == .invalidArgument }

    /// True if the rows are the server's, without pending writes.
    var isFresh: Bool {
        guard let shown else { return false }
        return shown.freshness.isFresh && !shown.hasPendingWrites
    }

    /// The read time at which all of the pipeline's documents are the server's; nil if there is
    /// none.
    var readTime: Timestamp? {
        guard isFresh, let first = views.first, let time = first?.readTime,
            views.allSatisfy({ $0?.readTime == time && $0?.isFromCache == false })
        else { return nil }
        return time
    }
}
