import Synchronization
import TidemarkModel

/// A call or stream with faults, between its client and the server.
final class FaultyLink<Faults: StreamFaults>: RequestStream {
    typealias Message = Faults.Message
    typealias Event = StreamEvent<Faults.Response>
    typealias Upstream = any RequestStream<Faults.Message>

    private struct State {
        var faults: Faults
        /// The server's end; nil before it is open, and for a call that never reaches the server.
        var upstream: Upstream?
        /// True after the link to the server has ended.
        var isOver = false
    }

    private let effects: FaultEffects
    private let environment: FaultEnvironment
    private let state: Mutex<State>
    private let ending: LinkEnding
    /// The server's messages on the way to the client.
    private let down: PacedLine<Event>
    /// The messages to the server, which are sent immediately and in order, with no lock held.
    private let up: PacedLine<@Sendable () -> Void>

    init(
        _ faults: Faults, effects: FaultEffects, owner: FaultyTransport,
        environment: FaultEnvironment, receive: @escaping @Sendable (Event) -> Void
    ) {
        self.effects = effects
        self.environment = environment
        state = Mutex(State(faults: faults))
        let ending = LinkEnding(owner)
        self.ending = ending
        var pacing = Pacing()
        pacing.latency = effects.latency ?? .zero
        pacing.jitter = effects.jitter
        pacing.bytesPerSecond = effects.bytesPerSecond
        down = PacedLine(pacing, environment) { event in
            if case .ended = event { ending.reach() }
            receive(event)
        }
        up = PacedLine(Pacing(), environment) { $0() }
    }

    /// - Parameters:
    ///   - deadline: The duration after which the call ends automatically; nil for no deadline.
    ///   - connect: Opens the server's end.
    func open(
        deadline: Duration?, _ connect: (@escaping @Sendable (Event) -> Void) -> Upstream
    ) {
        if let deadline {
            ending.timer = environment.schedule(deadline) { [self] in
                end(RPCStatus(.deadlineExceeded, "The call took longer than its deadline."))
            }
        }
        if effects.isSilent {
            if ending.beginSilence() { return }
            let full = RPCStatus(
                .resourceExhausted,
                """
                Too many calls are waiting without an answer.
                """)
            return endWithoutServer(full)
        }
        if let error = effects.error { return endWithoutServer(error) }
        let upstream = connect { [self] in hear($0) }
        let isOver = state.withLock { state in
            state.upstream = upstream
            return state.isOver
        }
        if isOver { upstream.cancel() }
    }

    private func endWithoutServer(_ status: RPCStatus) {
        state.withLock { $0.isOver = true }
        down.finish(with: .ended(status))
        down.pumpLater()
    }

    // MARK: The client's side

    func send(_ message: Message) {
        state.withLock { state in
            guard !state.isOver, let upstream = state.upstream else { return }
            for message in state.faults.sent(message) { say { upstream.send(message) } }
        }
        up.pump()
    }

    func finish() {
        state.withLock { state in
            guard !state.isOver, let upstream = state.upstream else { return }
            say { upstream.finish() }
        }
        up.pump()
    }

    func cancel() { end(RPCStatus(.cancelled, "The caller cancelled.")) }

    /// Pauses the server's end. Messages that are already under way still arrive.
    func pause() { notify { $0.pause() } }
    func resume() { notify { $0.resume() } }

    private func notify(_ words: @escaping @Sendable (Upstream) -> Void) {
        state.withLock { state in
            guard !state.isOver, let upstream = state.upstream else { return }
            say { words(upstream) }
        }
        up.pump()
    }

    /// Ends both sides immediately; messages under way are lost.
    private func end(_ status: RPCStatus) {
        state.withLock { leave(&$0) }
        down.close(with: .ended(status))
        up.pump()
        down.pump()
    }

    /// Cancels the server's end.
    private func leave(_ state: inout State) {
        if state.isOver { return }
        state.isOver = true
        if let upstream = state.upstream { say { upstream.cancel() } }
    }

    private func say(_ words: @escaping @Sendable () -> Void) { _ = up.enqueue(words) }

    // MARK: The server's side

    private func hear(_ event: Event) {
        state.withLock { state in
            if state.isOver { return }
            switch event {
            case .message(let response): hear(response, &state)
            case .ended(let status):
                state.isOver = true
                down.finish(with: .ended(state.faults.ended(status)))
            }
        }
        down.pump()
        up.pump()
    }

    private func hear(_ response: Faults.Response, _ state: inout State) {
        let step = state.faults.received(response)
        var holding = step.holding
        var isFull = false
        for message in step.toClient {
            let bytes = Faults.size(of: message)
            if !down.enqueue(.message(message), bytes: bytes, holding: holding) { isFull = true }
            holding = .zero
        }
        if let upstream = state.upstream {
            for message in step.toServer { say { upstream.send(message) } }
        }
        if isFull {
            leave(&state)
            let status = RPCStatus(.resourceExhausted, "Too many messages are in transit.")
            down.close(with: .ended(status))
        } else if step.isCut {
            leave(&state)
            down.finish(with: .ended(FaultEffects.connectionLost))
        }
    }
}

/// Performs the work at a link's end once: cancels the timer, and frees the link's place among the
/// silent calls.
private final class LinkEnding: Sendable {
    private struct State {
        var timer: (any CancellableCall)?
        var isSilent = false
        var isReached = false
    }

    private let owner: FaultyTransport
    private let state = Mutex(State())

    init(_ owner: FaultyTransport) { self.owner = owner }

    var timer: (any CancellableCall)? {
        get { state.withLock { $0.timer } }
        set { state.withLock { $0.timer = newValue } }
    }

    /// - Returns: False if too many calls are already silent.
    func beginSilence() -> Bool {
        let (_, count) = owner.silentCalls.add(1, ordering: .relaxed)
        if count > FaultyTransport.maxSilent {
            owner.silentCalls.subtract(1, ordering: .relaxed)
            return false
        }
        state.withLock { $0.isSilent = true }
        return true
    }

    func reach() {
        let (timer, wasSilent) = state.withLock { state in
            let first = !state.isReached
            state.isReached = true
            return (state.timer.take(), first && state.isSilent)
        }
        timer?.cancel()
        if wasSilent { owner.silentCalls.subtract(1, ordering: .relaxed) }
    }
}
