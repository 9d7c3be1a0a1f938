import Synchronization

/// The number of values that a subscriber still accepts. A task with the next value waits here
/// until it is requested.
///
/// At most one task can wait at a time.
final class DemandGate: Sendable {
    private struct State {
        /// The number of requested values; nil for no limit.
        var demand: Int? = 0
        var isClosed = false
        var waiting: CheckedContinuation<Bool, Never>?

        /// Returns true if a value can be sent, and subtracts it from the demand; false if the gate
        /// is closed; nil if the task must wait.
        mutating func take() -> Bool? {
            if isClosed { return false }
            guard let demand else { return true }
            if demand == 0 { return nil }
            self.demand = demand - 1
            return true
        }
    }

    private let state = Mutex(State())

    /// - Parameter count: The number of further values, at least 0; nil for no limit.
    func request(_ count: Int?) {
        settle { state in
            guard let count, let demand = state.demand else { return state.demand = nil }
            let (sum, isTooMuch) = demand.addingReportingOverflow(count)
            state.demand = isTooMuch ? nil : sum
        }
    }

    /// Closes the gate: no more values are accepted.
    func close() { settle { $0.isClosed = true } }

    /// Waits until a value is requested.
    ///
    /// - Returns: False if the gate is closed.
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
