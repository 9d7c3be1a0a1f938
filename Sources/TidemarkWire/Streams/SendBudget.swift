import Synchronization

/// Bounds the unsent data of all streams of a server.
///
/// Beyond the limit, the budget evicts the stream that has waited longest for its reader, among
/// those that hold at least half of an equal share, because small streams would free little memory.
/// The stream that has waited least is spared, so that even a message larger than the limit reaches
/// a reader. Time is a counter that advances when any reader takes data or any stream begins to
/// wait.
package final class SendBudget: Sendable {
    /// A stream's part of the budget, and the function that releases it.
    package struct Holder: Sendable {
        /// Returns the unsent bytes, and the time since which none were taken.
        let held: @Sendable () -> (bytes: Int, since: UInt64)
        /// Ends the stream and releases all its bytes.
        let evict: @Sendable () -> Void

        package init(
            held: @escaping @Sendable () -> (bytes: Int, since: UInt64),
            evict: @escaping @Sendable () -> Void
        ) {
            self.held = held
            self.evict = evict
        }
    }

    private struct State {
        var holders: [Int: Holder] = [:]
        var lastID = 0
    }

    private let limit: Int
    private let total = Atomic(0)
    private let clock = Atomic<UInt64>(0)
    private let state = Mutex(State())
    /// Held by the thread that selects a stream to evict.
    private let isEvicting = Mutex(())

    /// - Parameter limit: The maximum number of unsent bytes.
    package init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// The number of unsent bytes on all streams.
    var held: Int { total.load(ordering: .relaxed) }

    /// Advances the time and returns it.
    func tick() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

    package func register(_ holder: Holder) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.holders[state.lastID] = holder
            return state.lastID
        }
    }

    package func unregister(_ id: Int) { state.withLock { _ = $0.holders.removeValue(forKey: id) } }

    /// Counts unsent bytes. Must be called without locks, because it may end streams, including the
    /// caller's.
    func add(_ bytes: Int) {
        let (_, held) = total.add(bytes, ordering: .relaxed)
        if held > limit { evict() }
    }

    /// Counts bytes as no longer waiting.
    func release(_ bytes: Int) { total.subtract(bytes, ordering: .relaxed) }

    private func evict() {
        isEvicting.withLock { _ in
            while total.load(ordering: .relaxed) > limit, let holder = longestWaiting() {
                holder.evict()
            }
        }
    }

    private func longestWaiting() -> Holder? {
        let holders = state.withLock { Array($0.holders.values) }
        let enough = limit / (2 * max(holders.count, 1))
        var longest: (holder: Holder, since: UInt64)?
        var latest: UInt64 = 0
        for holder in holders {
            let (bytes, since) = holder.held()
            if bytes == 0 { continue }
            latest = max(latest, since)
            if bytes > enough, since < longest?.since ?? .max { longest = (holder, since) }
        }
        guard let longest, longest.since < latest else { return nil }
        return longest.holder
    }
}
