import TidemarkModel

/// The state that all parts of an engine share: its configuration, gate, timers and executor.
///
/// A part may call only the parts passed to its `init`. It notifies all others through ``engine``,
/// whose loop dispatches to the interested parts.
// @unchecked: used only on the engine's executor, like the engine.
final class EngineContext: @unchecked Sendable {
    let configuration: SyncEngine.Configuration
    let environment: SyncEnvironment
    let gate: EngineGate
    private unowned var attached: EngineCore?
    /// The timers, at most one of each kind.
    private var timers: [(id: TimerID, call: any CancellableCall)] = []

    init(
        _ configuration: SyncEngine.Configuration, environment: SyncEnvironment,
        gate: EngineGate
    ) {
        self.configuration = configuration
        self.environment = environment
        self.gate = gate
    }

    /// An engine that is released without termination leaves no timers.
    deinit { cancelAllTimers() }

    /// Sets the engine. Called once, before any part is used.
    func attach(_ engine: EngineCore) { attached = engine }

    /// The engine. Use it only within a job of the engine, which keeps it alive.
    var engine: EngineCore { attached! }

    var database: DatabaseID { configuration.database }
    /// The time on the scheduler's clock.
    var elapsed: Duration { environment.scheduler.elapsed }

    /// Returns the age of a time by the device's clock, which can be wrong; never negative.
    func age(of time: Timestamp) -> Duration {
        max(.zero, environment.now().duration(since: time))
    }

    func callContext(timeout: Duration? = nil) -> CallContext {
        CallContext(
            database: database, label: configuration.label, timeout: timeout,
            token: configuration.token)
    }

    #if TIDEMARK_DEFECTS
        func isPlanted(_ defect: PlantedDefects) -> Bool {
            environment.defects.contains(defect)
        }
    #endif

    // MARK: Jobs

    /// Runs a job after the waiting ones, unless the engine no longer exists then.
    func later(_ job: @escaping @Sendable () -> Void) {
        environment.scheduler.enqueue { [weak engine = engine] in
            guard let engine else { return }
            withExtendedLifetime(engine, job)
        }
    }

    /// Runs a job after the waiting ones, and keeps the engine alive until then.
    func laterKeepingEngine(_ job: @escaping @Sendable () -> Void) {
        environment.scheduler.enqueue { [engine] in withExtendedLifetime(engine, job) }
    }

    /// Runs a job after `delay`, unless it is cancelled or the engine no longer exists then.
    func after(
        _ delay: Duration, _ id: TimerID, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        environment.scheduler.schedule(id, after: delay) { [weak engine = engine] in
            guard let engine else { return }
            withExtendedLifetime(engine, job)
        }
    }

    // MARK: Timers

    /// Notifies the engine's loop after `delay`. Restarts a running timer with this id.
    func schedule(_ id: TimerID, after delay: Duration) {
        cancelTimer(id)
        let call = environment.scheduler.schedule(id, after: delay) { [weak engine = engine] in
            engine?.fired(id)
        }
        timers.append((id, call))
    }

    func cancelTimer(_ id: TimerID) { forgetTimer(id)?.cancel() }

    func isScheduled(_ id: TimerID) -> Bool { timers.contains { $0.id == id } }

    @discardableResult
    func forgetTimer(_ id: TimerID) -> (any CancellableCall)? {
        timers.firstIndex { $0.id == id }.map { timers.remove(at: $0).call }
    }

    func cancelAllTimers() {
        for timer in timers { timer.call.cancel() }
        timers = []
    }
}
