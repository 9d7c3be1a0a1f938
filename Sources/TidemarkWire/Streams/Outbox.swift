import Synchronization

/// Messages on their way to a socket: filled from any thread without waiting, emptied in batches by
/// one task. Bounded by the messages' sizes, and by what all streams of a server may hold.
package final class Outbox<Message: Sendable>: Sendable {
    package enum Offer {
        case queued
        /// Queued, and whoever can wait should, until there is room.
        case crowded
        case closed, full
    }

    private struct State {
        var messages: [Message] = []
        /// Of the messages that wait, and of those that were given out and are not sent yet.
        var queued = 0
        var sending = 0
        var isCrowded = false
        var isClosed = false
        /// When its reader last took something or it began to wait, as the budget counts time.
        var since: UInt64 = 0
        var waiter: CheckedContinuation<[Message]?, Never>?

        mutating func takeAll() -> [Message] {
            let taken = messages
            messages = []
            sending += queued
            queued = 0
            return taken
        }

        /// - Returns: The bytes that are let go.
        mutating func drop() -> Int {
            messages = []
            defer { (queued, sending) = (0, 0) }
            return queued + sending
        }
    }

    private let limit: Int
    private let window: Int
    private let budget: SendBudget?
    private let onRoom: (@Sendable () -> Void)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: How many bytes may wait. One message is taken however large it is.
    ///   - window: From how many on it is crowded, until half of them are sent.
    ///   - budget: What it shares with other streams.
    ///   - onRoom: Told when it is no longer crowded, in the task that empties it.
    package init(
        limit: Int, window: Int = .max, budget: SendBudget? = nil,
        onRoom: (@Sendable () -> Void)? = nil
    ) {
        precondition(limit > 0)
        self.limit = limit
        self.window = window
        self.budget = budget
        self.onRoom = onRoom
    }

    /// What the budget asks of a stream.
    package var held: (bytes: Int, since: UInt64) {
        state.withLock { ($0.queued + $0.sending, $0.since) }
    }

    package var isCrowded: Bool { state.withLock { $0.isCrowded } }

    package func offer(_ message: Message, bytes: Int) -> Offer {
        let (offer, waiter): (Offer, CheckedContinuation<[Message]?, Never>?) = state.withLock {
            if $0.isClosed { return (.closed, nil) }
            let held = $0.queued + $0.sending + bytes
            let waiter = $0.waiter.take()
            if waiter == nil {
                if !$0.messages.isEmpty, held > limit { return (.full, nil) }
                $0.messages.append(message)
            }
            if held == bytes { $0.since = budget?.tick() ?? 0 }
            if waiter == nil { $0.queued += bytes } else { $0.sending += bytes }
            if held >= window { $0.isCrowded = true }
            return ($0.isCrowded ? .crowded : .queued, waiter)
        }
        waiter?.resume(returning: [message])
        if offer == .queued || offer == .crowded { budget?.add(bytes) }
        return offer
    }

    /// Nothing more comes after `last`; what is queued is still given out.
    package func finish(with last: [Message] = [], bytes: Int = 0) {
        close(dropping: false, last, bytes)
    }

    /// Nothing more comes but `last`, and what is queued is dropped.
    package func fail(with last: [Message] = []) { close(dropping: true, last, 0) }

    private func close(dropping: Bool, _ last: [Message], _ bytes: Int) {
        var dropped = 0
        var isFirst = false
        let waiter: CheckedContinuation<[Message]?, Never>? = state.withLock { state in
            if dropping, !state.isClosed || last.isEmpty { dropped = state.drop() }
            guard !state.isClosed else { return nil }
            isFirst = true
            state.isClosed = true
            if bytes > 0, state.queued + state.sending == 0 { state.since = budget?.tick() ?? 0 }
            if state.waiter == nil {
                state.messages += last
                state.queued += bytes
            } else {
                state.sending += bytes
            }
            return state.waiter.take()
        }
        waiter?.resume(returning: last.isEmpty ? nil : last)
        if dropped > 0 { budget?.release(dropped) }
        if isFirst, bytes > 0 { budget?.add(bytes) }
    }

    /// Lets go of all that it holds, its end too, and ends with `last`.
    package func evict(with last: [Message]) {
        let (dropped, waiter) = state.withLock { state in
            let dropped = state.drop()
            state.isClosed = true
            let waiter = state.waiter.take()
            if waiter == nil { state.messages = last }
            return (dropped, waiter)
        }
        waiter?.resume(returning: last)
        if dropped > 0 { budget?.release(dropped) }
    }

    /// All that is queued, as soon as there is something; nil at the end. What was given out before
    /// counts as sent. For one caller at a time; the caller's cancellation does not end the wait,
    /// ``fail(with:)`` does.
    package func next() async -> [Message]? {
        didSend(.max)
        return await withCheckedContinuation { continuation in
            let ready: [Message]?? = state.withLock {
                if !$0.messages.isEmpty { return .some($0.takeAll()) }
                if $0.isClosed { return .some(nil) }
                precondition($0.waiter == nil, "two tasks empty one outbox")
                $0.waiter = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    /// What is queued now, without waiting.
    package func takeAll() -> [Message] { state.withLock { $0.takeAll() } }

    /// Says that so many bytes of what was given out are sent, or all of them.
    package func didSend(_ bytes: Int) {
        let (sent, hasRoom) = state.withLock { state in
            let sent = min(bytes, state.sending)
            state.sending -= sent
            if sent > 0 { state.since = budget?.tick() ?? 0 }
            let hasRoom = state.isCrowded && state.queued + state.sending <= window / 2
            if hasRoom { state.isCrowded = false }
            return (sent, hasRoom)
        }
        if sent > 0 { budget?.release(sent) }
        if hasRoom { onRoom?() }
    }
}
