import Synchronization

/// A queue of messages for a socket: any thread adds messages without waiting, and one task removes
/// them in batches. Bounded by the messages' sizes, and by a budget for all streams of a server.
package final class Outbox<Message: Sendable>: Sendable {
    package enum Offer {
        case queued
        /// The message is queued, but a caller that can wait should do so until there is room.
        case crowded
        case closed, full
    }

    private struct State {
        var messages: [Message] = []
        /// The bytes that wait (`queued`), and the bytes that were taken but are not sent
        /// (`sending`).
        var queued = 0
        var sending = 0
        var isCrowded = false
        var isClosed = false
        /// The budget's time when the reader last took bytes, or when bytes first waited for it.
        var since: UInt64 = 0
        var waiter: CheckedContinuation<[Message]?, Never>?

        mutating func takeAll() -> [Message] {
            let taken = messages
            messages = []
            sending += queued
            queued = 0
            return taken
        }

        /// - Returns: The number of bytes released.
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
    ///   - limit: The maximum number of queued bytes. A single message of any size is accepted.
    ///   - window: The number of bytes from which the outbox is crowded, until half of them are
    ///     sent.
    ///   - budget: The budget that the streams of a server share.
    ///   - onRoom: Called when the outbox stops being crowded, in the task that empties it.
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

    /// The values that the budget needs: the bytes held, and the time since which none were taken.
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

    /// Ends the queue with `last`. Messages already queued are still delivered.
    package func finish(with last: [Message] = [], bytes: Int = 0) {
        close(dropping: false, last, bytes)
    }

    /// Ends the queue with `last`. Messages already queued are dropped.
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

    /// Drops all messages, including the queued end, and ends with `last`.
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

    /// Waits until messages are queued and returns all of them; nil at the end. Counts the messages
    /// returned before as sent. Only one caller may wait at a time. Cancellation of the caller does
    /// not end the wait; ``fail(with:)`` does.
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

    /// Returns the queued messages without waiting.
    package func takeAll() -> [Message] { state.withLock { $0.takeAll() } }

    /// Counts `bytes` of the taken messages as sent, at most all of them.
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
