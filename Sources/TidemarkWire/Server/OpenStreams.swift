import Synchronization

/// The open streams of a server, or its open calls. A server that stops ends them.
final class OpenStreams: Sendable {
    private struct State {
        var isEnding = false
        var lastID = 0
        var ends: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Registers a stream. Calls `end` immediately if the server is already stopping.
    func add(_ end: @escaping @Sendable () -> Void) -> Int {
        let (id, isEnding) = state.withLock { state in
            state.lastID += 1
            if !state.isEnding { state.ends[state.lastID] = end }
            return (state.lastID, state.isEnding)
        }
        if isEnding { end() }
        return id
    }

    func remove(_ id: Int) { state.withLock { _ = $0.ends.removeValue(forKey: id) } }

    func endAll() {
        let ends = state.withLock { state in
            state.isEnding = true
            defer { state.ends = [:] }
            return Array(state.ends.values)
        }
        for end in ends { end() }
    }
}
