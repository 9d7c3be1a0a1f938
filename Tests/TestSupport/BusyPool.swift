import Foundation
import Synchronization

/// Keeps every thread of Swift's default executor busy with work that does not pause, while `body` runs.
///
/// The caller has to run on a thread of its own (``OwnThread``), or it never comes back.
///
/// - Throws: What `body` throws.
public func withBusyPool<T>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws -> T
) async throws -> T {
    let pool = BusyPool()
    let threads = ProcessInfo.processInfo.activeProcessorCount
    for _ in 0..<threads { Task.detached { pool.work() } }
    defer { pool.end() }
    // A sleep would end on one of the threads.
    while pool.busy < threads { await Task.yield() }
    return try await body()
}

/// Work for as many threads as there are, until it is told to end, or half a minute is over.
private final class BusyPool: Sendable {
    private let count = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)
    private let latest = ContinuousClock.now + .seconds(30)

    var busy: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Computes, and does not sleep: a thread that sleeps gets another one beside it.
    func work() {
        count.wrappingAdd(1, ordering: .sequentiallyConsistent)
        while !isOver.load(ordering: .relaxed), ContinuousClock.now < latest {}
    }

    func end() { isOver.store(true, ordering: .relaxed) }
}
