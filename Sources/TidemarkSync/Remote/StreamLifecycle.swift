import TidemarkModel

/// The life of one stream with any content. It opens on demand, reopens after a delay when it
/// fails, and closes when nothing needs it.
struct StreamLifecycle: Equatable, Sendable {
    enum State: Equatable, Sendable {
        case initial
        /// Requests can be sent; it shows later whether the server receives them.
        case open
        /// The stream has been open for ``healthyAfter``.
        case healthy
        case failed
        case backoff
    }

    struct Timers: Equatable, Sendable {
        let backoff: TimerID
        let idle: TimerID
        let healthy: TimerID
    }

    enum Event: Equatable, Sendable {
        case start(elapsed: Duration, jitter: Double)
        /// Closes without an error; the next start does not wait.
        case stop
        case ended(RPCStatus)
        case backoffElapsed
        /// Nothing needs the stream now.
        case idle
        case idleElapsed
        /// A request is about to be sent.
        case used
        case healthyElapsed
        /// A message showed that the server works.
        case progressed
        /// The next start must not wait, because the connection did not cause the failure.
        case inhibitBackoff
    }

    enum Effect: Equatable, Sendable {
        case open
        case close
        case schedule(TimerID, Duration)
        case cancel(TimerID)
        /// The other side ended the stream, or the stream could not be opened.
        case failed(RPCStatus)
    }

    /// Source for both: `core/remote/stream.cc`.
    static let idleLimit = Duration.seconds(60)
    static let healthyAfter = Duration.seconds(10)

    private(set) var state = State.initial
    private let timers: Timers
    private var backoff = StreamBackoff()
    private var isIdle = false

    init(_ timers: Timers) { self.timers = timers }

    var isOpen: Bool { state == .open || state == .healthy }
    /// True if the stream is open or about to open.
    var isStarted: Bool { isOpen || state == .backoff }

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .start(let elapsed, let jitter): return start(elapsed, jitter)
        case .stop: return stop()
        case .ended(let status): return end(status)
        case .backoffElapsed: return state == .backoff ? open() : []
        case .idle:
            guard isOpen, !isIdle else { return [] }
            isIdle = true
            return [.schedule(timers.idle, Self.idleLimit)]
        case .idleElapsed: return isOpen && isIdle ? stop() : []
        case .used: return cancelIdle()
        case .healthyElapsed:
            if state == .open { state = .healthy }
            return []
        case .progressed:
            backoff.reset()
            return []
        case .inhibitBackoff:
            backoff.inhibit()
            guard state == .backoff else { return [] }
            return [.cancel(timers.backoff)] + open()
        }
    }

    private mutating func start(_ elapsed: Duration, _ jitter: Double) -> [Effect] {
        switch state {
        case .initial: return open()
        case .failed:
            state = .backoff
            return [
                .schedule(timers.backoff, backoff.nextDelay(elapsed: elapsed, jitter: jitter))
            ]
        case .open, .healthy, .backoff: return []
        }
    }

    private mutating func open() -> [Effect] {
        precondition(!isOpen)
        state = .open
        return [.open, .schedule(timers.healthy, Self.healthyAfter)]
    }

    private mutating func stop() -> [Effect] {
        backoff.reset()
        switch state {
        case .initial: return []
        case .failed:
            state = .initial
            return []
        case .backoff:
            state = .initial
            return [.cancel(timers.backoff)]
        case .open, .healthy:
            state = .initial
            return cancelIdle() + [.cancel(timers.healthy), .close]
        }
    }

    private mutating func end(_ status: RPCStatus) -> [Effect] {
        // This end is late: the stream was stopped here before the other side's end arrived.
        guard isOpen else { return [] }
        state = .failed
        if status.code == .resourceExhausted { backoff.jumpToMaximum() }
        return cancelIdle() + [.cancel(timers.healthy), .failed(status)]
    }

    private mutating func cancelIdle() -> [Effect] {
        if !isIdle { return [] }
        isIdle = false
        return [.cancel(timers.idle)]
    }
}
