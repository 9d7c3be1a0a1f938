/// The estimate whether the server is reachable. It decides if a cached answer is used.
///
/// The offline state persists: in contrast to the official clients, a new attempt of a stream does
/// not reset it to unknown, so a second read does not wait again. A message from the server ends
/// it.
struct OnlineState: Equatable, Sendable {
    enum State: Equatable, Sendable { case unknown, online, offline }

    enum Event: Equatable, Sendable {
        case streamStarting
        case streamFailed
        case timerFired
        /// A message arrived.
        case heard
        /// A single call failed for lack of a connection while no stream was open.
        case callFailed
        /// The app turned the network off.
        case disabled
        /// The app turned the network on, or the system reports a network. The state is unknown
        /// again.
        case mayBeBack
    }

    enum Effect: Equatable, Sendable {
        case changed(State)
        case schedule(Duration)
        case cancelTimer
    }

    /// The time after which a silent server counts as offline. Source:
    /// `core/remote/online_state_tracker.cc`, which also defines that one failure is enough.
    static let patience = Duration.seconds(10)

    private(set) var state = State.unknown
    private var hasTimer = false

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .streamStarting:
            if state == .offline { return [] }
            let changes = change(to: .unknown)
            if hasTimer { return changes }
            hasTimer = true
            return changes + [.schedule(Self.patience)]
        case .streamFailed:
            // A working stream may just have been closed. The next failure decides.
            return state == .online ? change(to: .unknown) : stopTimer() + change(to: .offline)
        case .timerFired:
            hasTimer = false
            return state == .unknown ? change(to: .offline) : []
        case .heard: return stopTimer() + change(to: .online)
        case .callFailed, .disabled: return stopTimer() + change(to: .offline)
        case .mayBeBack: return stopTimer() + change(to: .unknown)
        }
    }

    private mutating func change(to new: State) -> [Effect] {
        if state == new { return [] }
        state = new
        return [.changed(new)]
    }

    private mutating func stopTimer() -> [Effect] {
        if !hasTimer { return [] }
        hasTimer = false
        return [.cancelTimer]
    }
}
