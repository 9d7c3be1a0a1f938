import Synchronization
package import TidemarkStore

/// A disk that fails on request. Transactions of the chosen kinds, for example `StorageStep`s, do
/// their work and then fail, as on a full disk.
///
/// ```swift
/// environment.storageFault = disk.fault
/// disk.fail([.writeLocally])
/// ```
package final class FaultyDisk<Step: Hashable & Sendable>: Sendable {
    private struct State {
        var steps: Set<Step> = []
        var error = StoreError.full
        var failures = 0
        var remaining = Int.max
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes transactions of these kinds fail until ``recover()``, and no others.
    ///
    /// - Parameter times: The number of transactions that fail. Later ones succeed.
    package func fail(
        _ steps: Set<Step>, with error: StoreError = .full, times: Int = .max
    ) {
        state.withLock { state in
            state.remaining = times
            state.steps = steps
            state.error = error
        }
    }

    package func recover() { fail([]) }

    /// The number of transactions that have failed.
    package var failures: Int { state.withLock(\.failures) }

    package var fault: @Sendable (Step) -> StoreError? {
        { [self] step in
            state.withLock { state in
                guard state.remaining > 0, state.steps.contains(step) else { return nil }
                state.remaining -= 1
                state.failures += 1
                return state.error
            }
        }
    }
}
