import Tidemark

/// Fetches or sends history in the background, newest first, one part at a time.
///
/// The backfill pauses while a user waits for something else, and ends when it is released.
///
/// ```swift
/// let backfill = Backfill([.init(job, from: source, to: sink)])
/// let progress = await backfill.progress
/// try await backfill.start()
/// for await state in progress {
///     show(state.fraction)
/// }
/// ```
///
/// After a kill at any point, another backfill with the same jobs continues at the same place: a
/// part may be fetched, stored and uploaded again, with the same result, and no part is missing.
public actor Backfill {
    /// A job with its source and its sink.
    public struct Item: Sendable {
        let job: BackfillJob
        let work: any BackfillWork

        public init<Items: Sendable>(
            _ job: BackfillJob, from source: some BackfillSource<Items>,
            to sink: some BackfillSink<Items>
        ) {
            self.job = job
            work = BackfillHands(source: source, sink: sink)
        }
    }

    private let items: [Item]
    private let clock: any Clock<Duration>
    private var machine: BackfillMachine
    private var conditions = BackfillConditions()
    private var task: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var hasStarted = false
    private let begin: @Sendable () -> Duration
    private var watchers: [Int: AsyncStream<BackfillProgress>.Continuation] = [:]
    private var nextWatcher = 0
    /// The present progress.
    public private(set) var current: BackfillProgress

    /// - Parameters:
    ///   - items: The jobs; at least one.
    ///   - budget: The amounts that the backfill may use before it stops.
    ///   - clock: The clock for the delays after failures, for the budget's time and for the
    ///     estimate.
    public init(
        _ items: [Item], budget: BackfillBudget = BackfillBudget(),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.items = items
        self.clock = clock
        let start = clock.now
        begin = { start.duration(to: clock.now) }
        machine = BackfillMachine(items.map(\.job), budget: budget)
        current = machine.progress
    }

    deinit {
        task?.cancel()
        timer?.cancel()
        for watcher in watchers.values { watcher.finish() }
    }

    /// Begins at the place where the last backfill ended. Only the first call has an effect.
    ///
    /// - Throws: A failure if the coverage cannot be read. Nothing has begun then.
    public func start() async throws(BackfillFailure) {
        if hasStarted { return }
        hasStarted = true
        var coverages: [Coverage] = []
        for item in items {
            do throws(BackfillFailure) { coverages.append(try await item.work.coverage()) } catch {
                hasStarted = false
                throw error
            }
        }
        step(.conditionsChanged(conditions))
        step(.started(coverages))
    }

    /// Ends the backfill after the running step, which is not interrupted. The coverage stays.
    public func stop() {
        guard hasStarted else { return }
        timer?.cancel()
        step(.stopped)
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
    }

    /// Reports that the network is available or unavailable.
    public func setOnline(_ isOnline: Bool) { change { $0.isOnline = isOnline } }
    /// Reports that the device begins or ends to save power.
    public func setLowPower(_ isLowPower: Bool) { change { $0.isLowPower = isLowPower } }
    /// Reports that the network begins or ends to be expensive: it is paid by the amount, or the
    /// user asks apps to save data on it. The backfill waits while it is expensive.
    public func setNetworkExpensive(_ isExpensive: Bool) {
        change { $0.isNetworkExpensive = isExpensive }
    }
    /// Renews the budget, for a new background task or a new day.
    public func renewBudget() { if hasStarted { step(.budgetRenewed) } }
    /// Retries the jobs that had failed permanently.
    public func retry() { if hasStarted { step(.retried) } }

    /// Runs work that a user waits for; the backfill begins no step during it.
    public func yielding<Value: Sendable>(
        to body: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        change { $0.peopleWaiting += 1 }
        defer { change { $0.peopleWaiting -= 1 } }
        return try await body()
    }

    /// The present progress and each later progress; a slow reader skips to the newest. Ends with
    /// the backfill.
    public var progress: AsyncStream<BackfillProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: BackfillProgress.self, bufferingPolicy: .bufferingNewest(1))
        let number = nextWatcher
        nextWatcher += 1
        watchers[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { await self?.forget(number) }
        }
        continuation.yield(current)
        return stream
    }

    private func forget(_ number: Int) { watchers[number] = nil }

    private func change(_ body: (inout BackfillConditions) -> Void) {
        body(&conditions)
        if hasStarted { step(.conditionsChanged(conditions)) }
    }
}

// MARK: - Effects

extension Backfill {
    private func step(_ event: BackfillMachine.Event) {
        BackfillMetrics.count(event)
        for effect in machine.step(event, now: begin()) { perform(effect) }
    }

    private func perform(_ effect: BackfillMachine.Effect) {
        switch effect {
        case .fetch(let job, let range):
            run(job) { work async throws(BackfillFailure) in
                .fetched(try await work.fetch(range))
            }
        case .store(let job):
            run(job) { work async throws(BackfillFailure) in
                try await work.store()
                return .stored
            }
        case .upload(let job):
            run(job) { work async throws(BackfillFailure) in
                .uploaded(writes: try await work.upload())
            }
        case .cover(let job, let coverage):
            run(job) { work async throws(BackfillFailure) in
                try await work.cover(coverage)
                return .covered
            }
        case .startTimer(let number, let delay):
            let clock = clock
            timer = Task { [weak self] in
                try? await clock.sleep(for: delay)
                if !Task.isCancelled { await self?.step(.timerFired(number)) }
            }
        case .show(let progress):
            current = progress
            for watcher in watchers.values { watcher.yield(progress) }
        }
    }

    /// Runs a step at low priority, so work that a user waits for also has priority on the
    /// processor.
    private func run(
        _ job: Int,
        _ body:
            @escaping @Sendable (any BackfillWork) async throws(BackfillFailure) ->
            BackfillMachine.Event
    ) {
        let work = items[job].work
        task = Task(priority: .utility) { [weak self] in
            let event: BackfillMachine.Event
            do throws(BackfillFailure) { event = try await body(work) } catch {
                event = .failed(error)
            }
            await self?.step(event)
        }
    }
}

/// A source and a sink, with any items between them.
protocol BackfillWork: Sendable {
    func coverage() async throws(BackfillFailure) -> Coverage
    func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillMachine.Part
    func store() async throws(BackfillFailure)
    func upload() async throws(BackfillFailure) -> Int
    func cover(_ coverage: Coverage) async throws(BackfillFailure)
}

/// Holds the single part between its fetch and its upload.
actor BackfillHands<Source: BackfillSource, Sink: BackfillSink>: BackfillWork
where Source.Items == Sink.Items {
    private let source: Source
    private let sink: Sink
    private var items: Source.Items?

    init(source: Source, sink: Sink) {
        self.source = source
        self.sink = sink
    }

    func coverage() async throws(BackfillFailure) -> Coverage { try await sink.coverage() }

    func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillMachine.Part {
        let part = try await source.fetch(range)
        items = part.items
        return BackfillMachine.Part(
            reached: part.reached, asOf: part.asOf, samples: part.samples, bytes: part.bytes,
            reads: part.reads)
    }

    func store() async throws(BackfillFailure) { try await sink.store(held()) }
    func upload() async throws(BackfillFailure) -> Int { try await sink.upload(held()) }

    func cover(_ coverage: Coverage) async throws(BackfillFailure) {
        try await sink.cover(coverage)
        items = nil
    }

    private func held() -> Source.Items {
        guard let items else { preconditionFailure("nothing was fetched") }
        return items
    }
}
