import Synchronization
package import TidemarkModel

/// How many calls and streams may be under way at once.
struct CallLimits: Sendable {
    /// On one connection. HTTP/2 would let a client wait for its turn without a word; this is said. Room
    /// for a thousand listens and what is asked beside them.
    var perConnection = 2_000
    /// On all connections.
    var calls = 20_000
}

/// Who may call, how many at once, and for how long.
package final class CallDesk: Sendable {
    private struct State {
        var calls = 0
        var callsByPeer: [String: Int] = [:]
        var lastID = 0
        var watched: [Int: (due: Duration, end: @Sendable () -> Void)] = [:]
    }

    private let access: (any CallerGate)?
    private let limits: CallLimits
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// - Parameter access: Who may call; nil for anybody.
    package convenience init(_ access: (any CallerGate)?) { self.init(access, CallLimits()) }

    init(_ access: (any CallerGate)?, _ limits: CallLimits) {
        self.access = access
        self.limits = limits
    }

    package func caller(_ token: String?, _ method: RPCMethod) async throws(RPCStatus) -> Caller {
        guard let access else { return Caller() }
        return try await access.caller(token, method: method.rawValue)
    }

    // MARK: How many

    /// - Returns: Why not; nil for a call that is in, and ``leave(_:)`` is then owed.
    func enter(_ peer: String) -> RPCStatus? {
        state.withLock { state in
            if state.calls >= limits.calls {
                return RPCStatus(
                    .resourceExhausted, "The server has \(limits.calls) calls under way already.")
            }
            let count = state.callsByPeer[peer, default: 0]
            if count >= limits.perConnection {
                return RPCStatus(
                    .resourceExhausted, "The connection has \(count) calls under way already.")
            }
            state.calls += 1
            state.callsByPeer[peer] = count + 1
            return nil
        }
    }

    func leave(_ peer: String) {
        state.withLock { state in
            state.calls -= 1
            let count = state.callsByPeer[peer, default: 1] - 1
            state.callsByPeer[peer] = count > 0 ? count : nil
        }
    }

    // MARK: How long

    /// How often it is looked for calls that are overdue.
    static let sweepInterval = Duration.seconds(1)

    /// Ends a call that has no deadline of its own when it takes too long.
    package func watch(_ limit: Duration, end: @escaping @Sendable () -> Void) -> Int {
        let due = start.duration(to: .now) + limit
        return state.withLock { state in
            state.lastID += 1
            state.watched[state.lastID] = (due, end)
            return state.lastID
        }
    }

    package func unwatch(_ id: Int) { state.withLock { _ = $0.watched.removeValue(forKey: id) } }

    /// Ends what is overdue. One timer for all calls: a task of its own for each would cost more than
    /// many calls do.
    ///
    /// - Parameter later: How far ahead of now to look.
    package func sweep(later: Duration = .zero) {
        let now = start.duration(to: .now) + later
        let overdue = state.withLock { state in
            let overdue = state.watched.filter { $0.value.due <= now }
            for id in overdue.keys { state.watched[id] = nil }
            return overdue.values.map(\.end)
        }
        for end in overdue { end() }
    }

    /// Sweeps until the task is cancelled.
    func sweepAlways() async {
        while (try? await Task.sleep(for: Self.sweepInterval)) != nil { sweep() }
    }
}

extension RPCMethod {
    /// How long a call may take whose client set no deadline: what Firestore's own clients set. Source:
    /// resilience 3, Firestore's service config.
    package var defaultTimeout: Duration {
        switch self {
        case .batchGetDocuments, .runQuery, .executePipeline, .runAggregationQuery,
            .partitionQuery:
            .seconds(300)
        default: .seconds(60)
        }
    }
}
