import Synchronization

/// Hands things from one task to another, at most so many at a time: whoever is ahead waits.
///
/// One sender and one receiver. Ending is final; what was sent before it is still received.
final class Conveyor<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var isEnded = false
        var receiver: CheckedContinuation<Element?, Never>?
        var sender: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// Waits while as many as the limit are not yet received.
    /// - Returns: False when it was ended, and the element dropped.
    @discardableResult
    func send(_ element: Element) async -> Bool {
        let (receiver, isEnded, isFull) = state.withLock {
            state -> (CheckedContinuation<Element?, Never>?, Bool, Bool) in
            if state.isEnded { return (nil, true, false) }
            if let receiver = state.receiver {
                state.receiver = nil
                return (receiver, false, false)
            }
            state.waiting.append(element)
            return (nil, false, state.waiting.count >= limit)
        }
        receiver?.resume(returning: element)
        if isFull { await waitForRoom() }
        return !isEnded
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.isEnded || state.waiting.count < limit { return true }
                precondition(state.sender == nil, "one sender")
                state.sender = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// Nil when it has ended and everything was received.
    func receive() async -> Element? {
        await withCheckedContinuation { continuation in
            let (element, sender) = state.withLock {
                state -> (Element??, CheckedContinuation<Void, Never>?) in
                if !state.waiting.isEmpty {
                    let first = state.waiting.removeFirst()
                    defer { state.sender = nil }
                    return (.some(.some(first)), state.sender)
                }
                if state.isEnded { return (.some(nil), nil) }
                precondition(state.receiver == nil, "one receiver")
                state.receiver = continuation
                return (nil, nil)
            }
            sender?.resume()
            if let element { continuation.resume(returning: element) }
        }
    }

    func end() {
        let (receiver, sender) = state.withLock { state in
            state.isEnded = true
            defer {
                state.receiver = nil
                state.sender = nil
            }
            return (state.receiver, state.sender)
        }
        receiver?.resume(returning: nil)
        sender?.resume()
    }
}
