import TidemarkModel

/// The state that all parts of an engine share: its configuration, gate, timers and executor.
///
/// A part may call only the parts passed to its `init`. It notifies all others by ``notify(_:)``:
/// the engine's loop dispatches to the interested parts when the part's own call has returned.
// @unchecked: used only on the engine's executor, like the engine.
final class EngineContext: @unchecked Sendable {
    let configuration: SyncEngine.Configuration
    let environment: SyncEnvironment
    let gate: EngineGate
    private weak var engine: EngineCore?
    /// The notifications of the running job that are not dispatched yet, oldest first.
    private var notices: [EngineEvent] = []
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
    func attach(_ engine: EngineCore) { self.engine = engine }

    /// The object that keeps the engine alive while it is held. Call it only within a job.
    var engineKeeper: AnyObject { engine! }

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

    // MARK: Notifications

    /// Notifies the engine's loop, within a job. The loop dispatches the event before the job ends.
    func notify(_ event: EngineEvent) { notices.append(event) }

    /// Closes the gate for everything that would be stored, and notifies the engine's loop.
    func storageFailed() {
        gate.storageBroke()
        notify(.storageFailed)
    }

    /// Removes and returns the oldest notification.
    func nextNotice() -> EngineEvent? { notices.isEmpty ? nil : notices.removeFirst() }

    /// Starts a job with an input, from any thread, unless the engine no longer exists then.
    func receive(_ input: EngineInput) {
        environment.scheduler.enqueue { [weak self] in
            self?.engine?.run { $0.receive(input) }
        }
    }

    // MARK: Jobs

    /// Runs a job after the waiting ones, unless the engine no longer exists then.
    func later(_ job: @escaping @Sendable () -> Void) {
        environment.scheduler.enqueue { [weak engine = engine] in engine?.run { _ in job() } }
    }

    /// Runs a job after the waiting ones, and keeps the engine alive until then.
    func laterKeepingEngine(_ job: @escaping @Sendable () -> Void) {
        environment.scheduler.enqueue { [engine] in engine?.run { _ in job() } }
    }

    /// Runs a job after `delay`, unless it is cancelled or the engine no longer exists then.
    func after(
        _ delay: Duration, _ id: TimerID, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        environment.scheduler.schedule(id, after: delay) { [weak engine = engine] in
            engine?.run { _ in job() }
        }
    }

    // MARK: Timers

    /// Notifies the engine's loop after `delay`. Restarts a running timer with this id.
    func schedule(_ id: TimerID, after delay: Duration) {
        cancelTimer(id)
        let call = environment.scheduler.schedule(id, after: delay) { [weak engine = engine] in
            engine?.run { $0.fired(id) }
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
