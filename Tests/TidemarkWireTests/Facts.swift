import Synchronization
import TidemarkModel

/// The events so far, which a test can wait for.
final class Facts<Fact: Sendable>: Sendable {
    private struct State {
        var facts: [Fact] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<[Fact], Never>)] = []
    }

    private let state = Mutex(State())

    func add(_ fact: Fact) {
        let ready = state.withLock { state in
            state.facts.append(fact)
            let count = state.facts.count
            let ready = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return (ready.map(\.continuation), state.facts)
        }
        for continuation in ready.0 { continuation.resume(returning: ready.1) }
    }

    var all: [Fact] { state.withLock { $0.facts } }

    /// Returns all events when there are at least `count`. If they never arrive, the test's time
    /// limit ends the wait.
    @discardableResult
    func wait(for count: Int = 1) async -> [Fact] {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> [Fact]? in
                if state.facts.count >= count { return state.facts }
                state.waiters.append((count, continuation))
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}

/// Records the events of a sink: messages, then one end.
final class Received<Message: Sendable>: Sendable {
    let messages = Facts<Message>()
    let ends = Facts<RPCStatus>()

    var sink: @Sendable (StreamEvent<Message>) -> Void {
        { event in
            switch event {
            case .message(let message): self.messages.add(message)
            case .ended(let status): self.ends.add(status)
            }
        }
    }

    func end() async -> RPCStatus { await ends.wait()[0] }
}
