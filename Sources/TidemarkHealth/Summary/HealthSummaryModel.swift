public import Observation

/// A ``HealthSummary`` for a view to bind to. The model reads off the main actor, and only when a
/// shown value has changed.
@MainActor @Observable
public final class HealthSummaryModel {
    public private(set) var summary = HealthSummary()
    /// The number of reads of the summary.
    public private(set) var refreshes = 0

    @ObservationIgnored private var machine = SummaryMachine()
    @ObservationIgnored private let store: HealthStore
    @ObservationIgnored private let moment: @Sendable () -> HealthMoment
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private var observation: HealthStore.Observation?
    @ObservationIgnored private var reading: Task<Void, Never>?
    @ObservationIgnored private var timer: Task<Void, Never>?
    @ObservationIgnored private var hours: Task<Void, Never>?

    /// Creates a model, which starts to read. At each hour of the wall clock, the model reads the
    /// values again that end with the hour or the day.
    ///
    /// - Parameters:
    ///   - store: The store to read.
    ///   - moment: Returns the current time and time zone.
    ///   - clock: Measures the half second in which changes are collected, and the hours.
    public init(
        _ store: HealthStore, moment: @escaping @Sendable () -> HealthMoment = { .now },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.store = store
        self.moment = moment
        self.clock = clock
        observation = store.observe { [weak self] change in
            let kinds = change.kinds
            Task { @MainActor in self?.step(.changed(kinds)) }
        }
        step(.opened)
        hours = Task { [weak self] in
            while !Task.isCancelled {
                try? await clock.sleep(for: moment().untilNextHour)
                guard !Task.isCancelled, let self else { return }
                self.momentMoved()
            }
        }
    }

    deinit {
        reading?.cancel()
        timer?.cancel()
        hours?.cancel()
    }

    /// Call this after the time zone changed, or the clock was set. New hours and days need no
    /// call.
    public func momentMoved() { step(.momentMoved) }

    private func step(_ event: SummaryMachine.Event) {
        for effect in machine.step(event) { perform(effect) }
    }

    private func perform(_ effect: SummaryMachine.Effect) {
        switch effect {
        case .markStale(let items):
            for item in items where summary.phase(item) == .fresh { summary.phases[item] = .stale }
        case .startTimer:
            let clock = clock
            timer = Task { [weak self] in
                try? await clock.sleep(for: SummaryMachine.pause)
                if !Task.isCancelled { self?.step(.timerFired) }
            }
        case .read(let items): read(items)
        }
    }

    private func read(_ items: Set<HealthSummary.Item>) {
        let store = store
        let moment = moment()
        let before = summary
        reading = Task { [weak self] in
            let result = await Self.read(items, before: before, store: store, moment: moment)
            self?.show(result, items)
        }
    }

    @concurrent
    private nonisolated static func read(
        _ items: Set<HealthSummary.Item>, before: HealthSummary, store: HealthStore,
        moment: HealthMoment
    ) async -> Result<HealthSummary, HealthExportError> {
        do throws(HealthExportError) {
            return .success(
                try store.read { snapshot in
                    var summary = before
                    try snapshot.read(items, of: &summary, at: moment)
                    return summary
                })
        } catch {
            return .failure(error)
        }
    }

    private func show(
        _ result: Result<HealthSummary, HealthExportError>, _ items: Set<HealthSummary.Item>
    ) {
        refreshes += 1
        switch result {
        case .success(var read):
            // Values that became out of date during the read stay so; values that were not read
            // keep their phase.
            for item in HealthSummary.Item.allCases where !items.contains(item) {
                read.phases[item] = summary.phases[item]
            }
            for item in items where machine.isOutOfDate(item) { read.phases[item] = .stale }
            summary = read
        case .failure(let error):
            for item in items { summary.phases[item] = .failed(error.message) }
        }
        step(.readEnded)
    }
}
