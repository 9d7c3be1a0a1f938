import Synchronization

/// A clock that stands still: a sleep ends by cancellation alone.
final class StandingClock: Clock {
    private let count = Mutex(0)

    var now: ContinuousClock.Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }
    /// The number of sleeps that have begun.
    var sleepers: Int { count.withLock { $0 } }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        count.withLock { $0 += 1 }
        let (never, input) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        input.finish()
        try Task.checkCancellation()
    }
}
