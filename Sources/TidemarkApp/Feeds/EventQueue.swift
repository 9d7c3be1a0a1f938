import Synchronization

/// Events that an actor takes in the order in which others report them. The queue has no limit of
/// its own: only the actor's running effects and listeners report events, and the actor does not
/// suspend while it takes them.
final class EventQueue<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        /// True if a task takes the events, or begins to.
        var isTaking = false
    }

    private let state = Mutex(State())

    /// Adds an event.
    ///
    /// - Returns: True if the caller must start to take the events.
    func add(_ event: Event) -> Bool {
        state.withLock { state in
            state.events.append(event)
            defer { state.isTaking = true }
            return !state.isTaking
        }
    }

    /// Removes and returns all events. After an empty answer, the next ``add(_:)`` starts to take
    /// the events again.
    func take() -> [Event] {
        state.withLock { state in
            defer { state.events = [] }
            state.isTaking = !state.events.isEmpty
            return state.events
        }
    }
}
