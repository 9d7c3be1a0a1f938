import Synchronization

/// How many values a subscriber still takes: who has the next one waits here until it is asked for.
///
/// For one that waits at a time.
final class DemandGate: Sendable {
    private struct State {
        /// Nil when there is no limit.
        var demand: Int? = 0
        var isClosed = false
        var waiting: CheckedContinuation<Bool, Never>?

        /// Whether one value may go, if that is known; it is taken from the demand.
        mutating func take() -> Bool? {
            if isClosed { return false }
            guard let demand else { return true }
            if demand == 0 { return nil }
            self.demand = demand - 1
            return true
        }
    }

    private let state = Mutex(State())

    /// - Parameter count: At least 0, on top of what was asked for before; nil for all that come.
    func request(_ count: Int?) {
        settle { state in
            guard let count, let demand = state.demand else { return state.demand = nil }
            let (sum, isTooMuch) = demand.addingReportingOverflow(count)
            state.demand = isTooMuch ? nil : sum
        }
    }

    /// Nothing more is taken.
    func close() { settle { $0.isClosed = true } }

    /// Waits until a value is asked for.
    ///
    /// - Returns: False when nothing more is taken.
    func take() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                let answer = state.take()
                if answer == nil { state.waiting = continuation }
                return answer
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func settle(_ change: (inout State) -> Void) {
        let settled = state.withLock { state -> (CheckedContinuation<Bool, Never>, Bool)? in
            change(&state)
            guard let waiting = state.waiting, let answer = state.take() else { return nil }
            state.waiting = nil
            return (waiting, answer)
        }
        if let (waiting, answer) = settled { waiting.resume(returning: answer) }
    }
}
