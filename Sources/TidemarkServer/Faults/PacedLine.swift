import Synchronization
public import TidemarkModel

/// The time and the random numbers, which faults take from outside.
public struct FaultEnvironment: Sendable {
    /// Returns the time since a fixed point; it never goes back.
    public var elapsed: @Sendable () -> Duration
    /// Runs a job once after a delay, never during the call itself.
    public var schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> any CancellableCall
    /// Returns a number in `0 ..< 1`.
    public var random: @Sendable () -> Double

    public init(
        elapsed: @escaping @Sendable () -> Duration,
        schedule:
            @escaping @Sendable (Duration, @escaping @Sendable () -> Void)
            -> any CancellableCall,
        random: @escaping @Sendable () -> Double
    ) {
        self.elapsed = elapsed
        self.schedule = schedule
        self.random = random
    }
}

/// The elements from one side on the way to the other. They arrive in order, one at a time, and
/// with no lock held.
final class PacedLine<Element: Sendable>: Sendable {
    private struct State {
        var pacing: Pacing
        var queue: [(due: Duration, element: Element, bytes: Int)] = []
        /// The bytes of `queue`.
        var bytes = 0
        var isDelivering = false
        /// True if no more elements are accepted.
        var isClosed = false
        /// True if the last element has been delivered, or is about to be.
        var isOver = false
        /// The timer that will deliver the first of the queue.
        var wake: (due: Duration, handle: any CancellableCall)?
    }

    /// The maximum number of elements under way; further elements are refused.
    static var capacity: Int { 100_000 }
    /// The maximum number of bytes under way; further elements are refused. An element passes
    /// alone, whatever its size.
    static var maxBytes: Int { 64 << 20 }

    private let state: Mutex<State>
    private let environment: FaultEnvironment
    private let deliver: @Sendable (Element) -> Void

    init(
        _ pacing: Pacing, _ environment: FaultEnvironment,
        deliver: @escaping @Sendable (Element) -> Void
    ) {
        state = Mutex(State(pacing: pacing))
        self.environment = environment
        self.deliver = deliver
    }

    /// Puts an element on the line. Call ``pump()`` after it, with no lock held.
    ///
    /// - Returns: False if the line is full and the element was refused.
    func enqueue(_ element: Element, bytes: Int = 0, holding: Duration = .zero) -> Bool {
        let now = environment.elapsed()
        return state.withLock { state in
            if state.isClosed { return true }
            if state.queue.count >= Self.capacity { return false }
            if state.bytes + bytes > Self.maxBytes, !state.queue.isEmpty { return false }
            let due = state.pacing.arrival(
                of: bytes, at: now, holding: holding, environment.random)
            state.queue.append((due, element, bytes))
            state.bytes += bytes
            return true
        }
    }

    /// Drops the elements under way; only `last` arrives.
    func close(with last: Element) {
        let now = environment.elapsed()
        state.withLock { state in
            if state.isOver { return }
            state.isClosed = true
            state.queue = [(now, last, 0)]
            state.bytes = 0
        }
    }

    /// Delivers `last` after the elements under way, and nothing after it.
    func finish(with last: Element, holding: Duration = .zero) {
        let now = environment.elapsed()
        state.withLock { state in
            if state.isClosed { return }
            state.isClosed = true
            let due = state.pacing.arrival(of: 0, at: now, holding: holding, environment.random)
            state.queue.append((due, last, 0))
        }
    }

    /// Delivers the due elements, and schedules the rest.
    func pump() {
        let isFree = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        // The thread that delivers checks again before it stops.
        guard isFree else { return }
        while let due = takeDue() {
            for element in due { deliver(element) }
        }
    }

    /// Runs ``pump()``, but never during this call.
    func pumpLater() { _ = environment.schedule(.zero) { self.pump() } }

    /// - Returns: The due elements; nil if nothing is due. The delivery is then over.
    private func takeDue() -> [Element]? {
        let now = environment.elapsed()
        let (due, wait): ([Element]?, Duration?) = state.withLock { state in
            if state.wake.map({ $0.due <= now }) == true { state.wake = nil }
            let count = state.queue.prefix { $0.due <= now }.count
            if count > 0 {
                let due = state.queue.prefix(count).map(\.element)
                state.bytes -= state.queue.prefix(count).reduce(0) { $0 + $1.bytes }
                state.queue.removeFirst(count)
                if state.isClosed, state.queue.isEmpty { state.isOver = true }
                return (due, nil)
            }
            state.isDelivering = false
            guard let first = state.queue.first?.due else { return (nil, nil) }
            if let wake = state.wake, wake.due <= first { return (nil, nil) }
            return (nil, first - now)
        }
        if let wait { wake(after: wait, from: now) }
        return due
    }

    private func wake(after delay: Duration, from now: Duration) {
        let handle = environment.schedule(delay) { self.pump() }
        let old = state.withLock { state in
            defer { state.wake = (now + delay, handle) }
            return state.wake?.handle
        }
        old?.cancel()
    }
}
