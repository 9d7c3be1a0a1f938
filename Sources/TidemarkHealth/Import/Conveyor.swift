import Synchronization

/// Passes elements from one task to another, with a bounded number of waiting elements: the faster
/// task waits.
///
/// A conveyor has one sender and one receiver. The end is final; elements that were sent before it
/// are still received.
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

    /// Waits while the number of elements that were not received yet equals the limit.
    /// - Returns: False if the conveyor has ended; the element is then dropped.
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

    /// Returns nil if the conveyor has ended and all elements were received.
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
