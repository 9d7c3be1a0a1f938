import Foundation
import Synchronization

/// Keeps every thread of Swift's default executor busy with work that does not pause, while `body`
/// runs.
///
/// The caller must run on a separate thread (``OwnThread``). Otherwise, the function never returns.
///
/// - Throws: The error of `body`.
public func withBusyPool<T>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws -> T
) async throws -> T {
    let pool = BusyPool()
    let threads = ProcessInfo.processInfo.activeProcessorCount
    for _ in 0..<threads { Task.detached { pool.work() } }
    defer { pool.end() }
    // A sleep would need one of the busy threads to continue.
    while pool.busy < threads { await Task.yield() }
    return try await body()
}

/// Work for all threads, which ends after ``end()`` or after 30 seconds.
private final class BusyPool: Sendable {
    private let count = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    private let latest = ContinuousClock.now + .seconds(30)

    var busy: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Computes and does not sleep, because the system replaces a sleeping thread with another.
    func work() {
        count.wrappingAdd(1, ordering: .sequentiallyConsistent)
        while !isOver.load(ordering: .relaxed), ContinuousClock.now < latest {}
    }

    func end() { isOver.store(true, ordering: .relaxed) }
}
