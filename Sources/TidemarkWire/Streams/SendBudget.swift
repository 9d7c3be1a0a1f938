import Synchronization

/// Bounds what waits to be sent on all streams of a server together.
///
/// Beyond the bound the stream that has waited longest for its reader is let go, of those that hold
/// at least half of their share: small ones would give little back. The one that has waited least is
/// let be, so that a message that is larger than the budget reaches a reader at all. Time is counted
/// in what readers take and in what begins to wait for them, by anyone.
package final class SendBudget: Sendable {
    /// One stream's part of the budget, and how to take it back.
    package struct Holder: Sendable {
        /// Bytes that wait or are being sent, and the time since which none were taken.
        let held: @Sendable () -> (bytes: Int, since: UInt64)
        /// Gives all of them back, by ending the stream.
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
    /// Held by the one that looks for a stream to let go.
    private let isEvicting = Mutex(())

    /// - Parameter limit: In bytes.
    package init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// Bytes that wait on all streams.
    var held: Int { total.load(ordering: .relaxed) }

    /// Another moment of the time.
    func tick() -> UInt64 { clock.add(1, ordering: .relaxed).newValue }

    package func register(_ holder: Holder) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.holders[state.lastID] = holder
            return state.lastID
        }
    }

    package func unregister(_ id: Int) { state.withLock { _ = $0.holders.removeValue(forKey: id) } }

    /// Counts bytes that wait. With no lock held: it may end streams, the caller's too.
    func add(_ bytes: Int) {
        let (_, held) = total.add(bytes, ordering: .relaxed)
        if held > limit { evict() }
    }

    /// Counts bytes that no longer wait.
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
