import Synchronization

/// Bounds what waits to be sent on all streams of a server together.
///
/// Beyond the bound the stream that has waited longest for its reader is let go, of those that hold
/// at least half of their share: small ones would give little back. Who reads is safe: time is
/// counted in what readers take, by anyone.
final class SendBudget: Sendable {
    /// One stream's part of the budget, and how to take it back.
    struct Holder: Sendable {
        /// Bytes that wait or are being sent, and the time since which none were taken.
        let held: @Sendable () -> (bytes: Int, since: UInt64)
        /// Gives all of them back, by ending the stream.
        let evict: @Sendable () -> Void
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
    init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// Bytes that wait on all streams.
    var held: Int { total.load(ordering: .relaxed) }
    var now: UInt64 { clock.load(ordering: .relaxed) }

    func register(_ holder: Holder) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.holders[state.lastID] = holder
            return state.lastID
        }
    }

    func unregister(_ id: Int) { state.withLock { _ = $0.holders.removeValue(forKey: id) } }

    /// Counts bytes that wait. With no lock held: it may end streams, the caller's too.
    func add(_ bytes: Int) {
        let (_, held) = total.add(bytes, ordering: .relaxed)
        if held > limit { evict() }
    }

    /// Counts bytes that no longer wait; a reader took them when `isProgress`.
    ///
    /// - Returns: The time now.
    @discardableResult
    func release(_ bytes: Int, isProgress: Bool) -> UInt64 {
        total.subtract(bytes, ordering: .relaxed)
        return isProgress ? clock.add(1, ordering: .relaxed).newValue : now
    }

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
        var result: (holder: Holder, since: UInt64)?
        for holder in holders {
            let (bytes, since) = holder.held()
            if bytes > enough, since < result?.since ?? .max { result = (holder, since) }
        }
        return result?.holder
    }
}
