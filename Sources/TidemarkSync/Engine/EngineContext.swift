import TidemarkModel

/// What all parts of an engine share: what it was made with, its gate, its timers and its executor.
///
/// A part that is not told in its `init` of another one reaches it by ``engine`` alone, whose loop says
/// which parts hear of what.
// @unchecked: used on the engine's executor only, like the engine.
final class EngineContext: @unchecked Sendable {
    let configuration: SyncEngine.Configuration
    let environment: SyncEnvironment
    let gate: EngineGate
    private unowned var attached: EngineCore?
    /// One of each kind at most.
    private var timers: [(id: TimerID, call: any CancellableCall)] = []

    init(
        _ configuration: SyncEngine.Configuration, _ environment: SyncEnvironment,
        _ gate: EngineGate
    ) {
        self.configuration = configuration
        self.environment = environment
        self.gate = gate
    }

    /// An engine that is let go without an end leaves no timer.
    deinit { cancelAllTimers() }

    /// Called once, before any part is used.
    func attach(_ engine: EngineCore) { attached = engine }

    /// To be used within a job of the engine, which keeps it alive.
    var engine: EngineCore { attached! }

    var database: DatabaseID { configuration.database }
    /// By the scheduler.
    var elapsed: Duration { environment.scheduler.elapsed }

    /// By the device's clock, which may be wrong; never negative.
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

    /// Runs a job after those that wait, unless the engine is gone by then.
    func later(_ job: @escaping @Sendable () -> Void) {
        environment.scheduler.enqueue { [weak engine = engine] in
            guard let engine else { return }
            withExtendedLifetime(engine, job)
        }
    }

    /// Runs a job after those that wait, and keeps the engine until then.
    func laterInAnyCase(_ job: @escaping @Sendable () -> Void) {
        environment.scheduler.enqueue { [engine] in withExtendedLifetime(engine, job) }
    }

    /// Runs a job after a while, unless it is cancelled or the engine is gone by then.
    func after(
        _ delay: Duration, _ id: TimerID, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        environment.scheduler.schedule(id, after: delay) { [weak engine = engine] in
            guard let engine else { return }
            withExtendedLifetime(engine, job)
        }
    }

    // MARK: Timers

    /// Has the engine's loop told after a while; a timer of this name that runs begins anew.
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
