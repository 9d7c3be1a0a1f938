import Testing
import TidemarkResilience
import TidemarkTestKit

struct `A clock that goes from wait to wait` {
    /// Advances the clock to the next wait as soon as a task waits.
    private func pass(_ clock: ManualClock) async {
        while !clock.advanceToNext() { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(2)))
    func `stands still until it is told, and then goes to the end of the wait`() async throws {
        let clock = ManualClock()
        #expect(!clock.advanceToNext() && clock.now.time == .zero)
        let first = Task { try await clock.wait(.seconds(8)) }
        await pass(clock)
        try await first.value
        #expect(clock.now.time == .seconds(8))
        let second = Task { try await clock.wait(.milliseconds(1)) }
        await pass(clock)
        try await second.value
        #expect(clock.now.time == .milliseconds(8_001))
    }

    @Test(.timeLimit(.minutes(2)))
    func `lets go of who is cancelled, before and while it waits`() async {
        let clock = ManualClock()
        let waiting = Task { try await clock.wait(.seconds(1)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(!clock.advanceToNext() && clock.now.time == .zero)
    }

    @Test(.timeLimit(.minutes(2)))
    func `lets go of who waits for sleepers and is cancelled, and of nobody else`() async throws {
        let clock = ManualClock()
        let (given, stays) = (Task { await clock.sleepers(2) }, Task { await clock.sleepers(1) })
        given.cancel()
        await given.value
        let sleeping = Task { try await clock.wait(.seconds(1)) }
        await stays.value
        clock.advance(by: .seconds(1))
        try await sleeping.value
    }

    /// The measurement behind the retry's row. A policy with other delays gives another total.
    @Test(.timeLimit(.minutes(2)), arguments: [(1.0, 14), (0.5, 7), (2, 28)])
    func `measures what a policy waits, not what it is meant to`(scale: Double, seconds: Int)
        async throws
    {
        let clock = ManualClock()
        var retry = Retry(.mobile, clock: clock)
        retry.policy.delayScale = scale
        retry.policy.attemptTimeout = nil
        let passing = Task {
            while !Task.isCancelled {
                _ = clock.advanceToNext()
                await Task.yield()
            }
        }
        defer { passing.cancel() }
        await #expect(throws: RetryError.self) {
            try await retry.run(.read, classify: { _ in Failure(.transient) }) { _ in
                throw CancelledByTest()
            }
        }
        #expect(clock.now.time == .seconds(seconds))
    }

    private struct CancelledByTest: Error {}
}

extension ManualClock {
    fileprivate func wait(_ duration: Duration) async throws {
        try await self.sleep(until: now.advanced(by: duration), tolerance: nil)
    }
}
