import Synchronization
import Testing
import TidemarkTestKit

@testable import TidemarkResilience

/// Tests that a process is not woken for limits of operations that have ended.
@Suite(.timeLimit(.minutes(1))) struct `Limits that share a sleep` {
    private let clock = ManualClock()
    private let expired = Expired()

    private final class Expired: Sendable {
        private let numbers = Mutex<[Int]>([])
        var all: [Int] { numbers.withLock { $0 } }
        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    private func begin(_ number: Int, _ time: Duration, _ limits: TimeLimits<ManualClock>) -> Int {
        limits.begin(time) { [expired] in expired.add(number) }
    }

    /// Waits until `number` has expired.
    private func expiry(of number: Int) async {
        while !expired.all.contains(number) { await Task.yield() }
    }

    @Test func `wake once after a thousand operations, and not again`() async {
        let limits = TimeLimits(clock)
        for number in 1...1_000 { limits.end(begin(number, .seconds(30), limits)) }
        await clock.sleepers(1)
        #expect(clock.count == 1)
        clock.advance(by: .seconds(30))
        // A later limit shows that the first sleep has ended: it sleeps alone.
        let last = begin(0, .seconds(5), limits)
        await clock.pass(.seconds(5))
        await expiry(of: 0)
        limits.end(last)
        #expect(expired.all == [0] && clock.count == 0)
    }

    @Test func `expire at their own times, in any order of their beginnings`() async {
        let limits = TimeLimits(clock)
        _ = begin(30, .seconds(30), limits)
        await clock.sleepers(1)
        let ended = begin(10, .seconds(10), limits)
        _ = begin(5, .seconds(5), limits)
        _ = begin(20, .seconds(20), limits)
        await clock.pass(.seconds(5))
        await expiry(of: 5)
        #expect(expired.all == [5])
        limits.end(ended)
        await clock.pass(.seconds(5))
        await clock.pass(.seconds(10))
        await expiry(of: 20)
        #expect(expired.all == [5, 20])
        await clock.pass(.seconds(10))
        await expiry(of: 30)
        #expect(expired.all == [5, 20, 30] && clock.count == 0)
    }

    @Test func `expire together, once each`() async {
        let limits = TimeLimits(clock)
        for number in 1...100 { _ = begin(number, .seconds(1), limits) }
        await clock.pass(.seconds(1))
        for number in 1...100 { await expiry(of: number) }
        #expect(expired.all.sorted() == Array(1...100) && clock.count == 0)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A limit on the system's clock` {
    @Test func `ends what takes too long, and is forgotten with what does not`() async throws {
        let value = try await withTimeout(.seconds(3_600)) { systemLimits.count }
        #expect(value > 0)
        await #expect(throws: AttemptTimedOut.self) {
            // The operation never ends, and ignores its cancellation.
            try await withTimeout(.milliseconds(5)) {
                await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in }
            }
        }
    }
}
