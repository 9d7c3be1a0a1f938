import Synchronization

/// Messages on their way to a socket: filled from any thread without waiting, emptied in batches by
/// one task. Bounded by the messages' sizes.
final class Outbox<Message: Sendable>: Sendable {
    enum Offer { case queued, closed, full }

    private struct State {
        var messages: [Message] = []
        var bytes = 0
        var isClosed = false
        var waiter: CheckedContinuation<[Message]?, Never>?

        mutating func takeAll() -> [Message] {
            let taken = messages
            messages = []
            bytes = 0
            return taken
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: How many bytes may wait. One message is taken however large it is.
    init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    func offer(_ message: Message, bytes: Int) -> Offer {
        let (offer, waiter): (Offer, CheckedContinuation<[Message]?, Never>?) = state.withLock {
            if $0.isClosed { return (.closed, nil) }
            if let waiter = $0.waiter.take() { return (.queued, waiter) }
            if !$0.messages.isEmpty, $0.bytes + bytes > limit { return (.full, nil) }
            $0.messages.append(message)
            $0.bytes += bytes
            return (.queued, nil)
        }
        waiter?.resume(returning: [message])
        return offer
    }

    /// Nothing more comes after `last`; what is queued is still given out.
    func finish(with last: [Message] = []) { close(dropping: false, last) }

    /// Nothing more comes but `last`, and what is queued is dropped.
    func fail(with last: [Message] = []) { close(dropping: true, last) }

    private func close(dropping: Bool, _ last: [Message]) {
        let waiter: CheckedContinuation<[Message]?, Never>? = state.withLock { state in
            if dropping, !state.isClosed { _ = state.takeAll() }
            if dropping, last.isEmpty { _ = state.takeAll() }
            guard !state.isClosed else { return nil }
            state.isClosed = true
            if state.waiter == nil { state.messages += last }
            return state.waiter.take()
        }
        waiter?.resume(returning: last.isEmpty ? nil : last)
    }

    /// All that is queued, as soon as there is something; nil at the end. For one caller at a time; the
    /// caller's cancellation does not end the wait, ``fail()`` does.
    func next() async -> [Message]? {
        await withCheckedContinuation { continuation in
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
}
