/// The state of the storage, from the results of the cache's transactions, and the time of the next
/// attempt.
///
/// The caller of a failed step handles the failure. This type decides which state the app sees, and
/// schedules an attempt even when no call comes.
struct StorageHealth: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case failed(StorageFault, elapsed: Duration, jitter: Double)
        /// A transaction stored something. Successful reads show nothing, because the disk may be
        /// full.
        case stored
        /// The retry's timer fired.
        case retrying
        /// The content that could not be stored earlier was stored, so the next failure is a new
        /// one.
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
            // An immediate attempt would fail again in the same way.
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
