import Synchronization

/// The properties of a network that decide what may be sent on it.
package struct NetworkCost: Hashable, Sendable {
    /// True if the network is paid by the amount: a phone's network, or a phone's hotspot.
    package var isExpensive: Bool
    /// True if the user asks apps to save data on the network.
    package var isConstrained: Bool

    package init(isExpensive: Bool = false, isConstrained: Bool = false) {
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }
}

/// Keeps the last report about the network, and passes each change to the outbox of files. Reports
/// can begin before there is an outbox. Until the first report, the network has no cost.
package final class NetworkReports: Sendable {
    package enum Event: Hashable, Sendable {
        case costChanged
        /// A network is there again, or another one.
        case mayBeBack
    }

    private struct State {
        var cost = NetworkCost()
        var observer: (@Sendable (Event) -> Void)?
    }

    private let state = Mutex(State())

    package var cost: NetworkCost { state.withLock(\.cost) }

    package func set(_ cost: NetworkCost) {
        let observer = state.withLock { state in
            defer { state.cost = cost }
            return state.cost == cost ? nil : state.observer
        }
        observer?(.costChanged)
    }

    func mayBeBack() { state.withLock(\.observer)?(.mayBeBack) }

    /// Passes later events to one observer, which replaces an earlier one. It can be called on any
    /// thread.
    package func observe(_ observer: @escaping @Sendable (Event) -> Void) {
        state.withLock { $0.observer = observer }
    }
}
