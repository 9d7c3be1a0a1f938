/// What the outcomes of the cache's transactions say of the storage, and when to try it again.
///
/// A step that fails is its caller's to deal with; this decides what the app is told, and that
/// somebody tries again even when nobody calls.
struct StorageHealth: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case failed(StorageFault, elapsed: Duration, jitter: Double)
        /// Something was stored. Reads that succeed show nothing: the disk may be full.
        case stored
        /// The retry's timer fired.
        case retrying
        /// What could not be stored before has been, so the next failure is a new one.
        case recovered
    }

    enum Effect: Equatable, Sendable {
        case changed(StorageState)
        case scheduleRetry(Duration)
        case cancelRetry
    }

    private(set) var state = StorageState.available
    private var backoff = StreamBackoff()
    private var isRetryScheduled = false

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .failed(let fault, let elapsed, let jitter):
            let changes = change(to: .failing(fault))
            if isRetryScheduled { return changes }
            isRetryScheduled = true
            // At once would be the same failure again.
            let delay = max(
                backoff.nextDelay(elapsed: elapsed, jitter: jitter), Self.shortestDelay)
            return changes + [.scheduleRetry(delay)]
        case .stored: return change(to: .available)
        case .retrying:
            isRetryScheduled = false
            return []
        case .recovered:
            backoff.reset()
            guard isRetryScheduled else { return [] }
            isRetryScheduled = false
            return [.cancelRetry]
        }
    }

    private static let shortestDelay = Duration.milliseconds(100)

    private mutating func change(to new: StorageState) -> [Effect] {
        if state == new { return [] }
        state = new
        return [.changed(new)]
    }
}
