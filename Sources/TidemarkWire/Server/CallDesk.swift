import Synchronization
package import TidemarkModel

/// The maximum numbers of concurrent calls and streams.
struct CallLimits: Sendable {
    /// The maximum on one connection: room for a thousand listens and the calls beside them.
    /// HTTP/2's own limit would let a client wait silently; this limit returns an error.
    var perConnection = 2_000
    /// The maximum on all connections.
    var calls = 20_000
}

/// Decides who may call, limits concurrent calls, and ends calls that take too long.
package final class CallDesk: Sendable {
    private struct State {
        var calls = 0
        var callsByPeer: [String: Int] = [:]
        var lastID = 0
        var watched: [Int: (due: Duration, end: @Sendable () -> Void)] = [:]
        /// Streams whose callers' tokens run out.
        var leases: [Int: (isOver: @Sendable () -> Bool, end: @Sendable () -> Void)] = [:]
    }

    private let access: (any CallerGate)?
    private let limits: CallLimits
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// - Parameter access: Decides who may call; nil admits every caller.
    package convenience init(_ access: (any CallerGate)?) { self.init(access, CallLimits()) }

    init(_ access: (any CallerGate)?, _ limits: CallLimits) {
        self.access = access
        self.limits = limits
    }

    package func caller(_ token: String?, _ method: RPCMethod) async throws(RPCStatus) -> Caller {
        guard let access else { return Caller() }
        return try await access.caller(token, method: method.rawValue)
    }

    /// Says who opens a stream, and ends the stream when what was shown is no longer good.
    package func streamCaller(
        _ token: String?, method: RPCMethod, lease: StreamLease
    ) async throws(RPCStatus) -> Caller {
        guard let access else { return Caller() }
        let opened = try await access.streamCaller(token, method: method.rawValue) {
            lease.end($0)
        }
        lease.hold(opened.leave)
        if let isOver = opened.isOver {
            let end: @Sendable () -> Void = { [weak lease] in lease?.end(.tokenOver) }
            let id = state.withLock { state in
                state.lastID += 1
                state.leases[state.lastID] = (isOver, end)
                return state.lastID
            }
            lease.hold { [weak self] in
                self?.state.withLock { _ = $0.leases.removeValue(forKey: id) }
            }
        }
        return opened.caller
    }

    // MARK: How many

    /// - Returns: The error; nil if the call is admitted. The caller must then call ``leave(_:)``.
    func enter(_ peer: String) -> RPCStatus? {
        state.withLock { state in
            if state.calls >= limits.calls {
                return RPCStatus(
                    .resourceExhausted, "The server already has \(limits.calls) calls in progress.")
            }
            let count = state.callsByPeer[peer, default: 0]
            if count >= limits.perConnection {
                return RPCStatus(
                    .resourceExhausted, "The connection already has \(count) calls in progress.")
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

    /// The interval of the search for overdue calls.
    static let sweepInterval = Duration.seconds(1)

    /// Ends a call without its own deadline after `limit`.
    package func watch(_ limit: Duration, end: @escaping @Sendable () -> Void) -> Int {
        let due = start.duration(to: .now) + limit
        return state.withLock { state in
            state.lastID += 1
            state.watched[state.lastID] = (due, end)
            return state.lastID
        }
    }

    package func unwatch(_ id: Int) { state.withLock { _ = $0.watched.removeValue(forKey: id) } }

    /// Ends overdue calls, and streams whose tokens have run out. One timer serves all calls,
    /// because a task for each call would cost more than many calls do.
    ///
    /// - Parameter later: The time to add to the current time.
    package func sweep(later: Duration = .zero) {
        let now = start.duration(to: .now) + later
        let overdue = state.withLock { state in
            let overdue = state.watched.filter { $0.value.due <= now }
            for id in overdue.keys { state.watched[id] = nil }
            return overdue.values.map(\.end)
        }
        for end in overdue { end() }
        // Outside of the lock: it is somebody else's clock.
        for lease in state.withLock({ Array($0.leases.values) }) where lease.isOver() {
            lease.end()
        }
    }

    /// Sweeps until the task is cancelled.
    func sweepAlways() async {
        while (try? await Task.sleep(for: Self.sweepInterval)) != nil { sweep() }
    }
}

extension RPCMethod {
    /// The maximum duration of a call without a deadline of its client: the default of Firestore's
    /// own clients. Source: resilience 3, Firestore's service config.
    package var defaultTimeout: Duration {
        switch self {
        case .batchGetDocuments, .runQuery, .executePipeline, .runAggregationQuery,
            .partitionQuery:
            .seconds(300)
        default: .seconds(60)
        }
    }
}

extension RPCStatus {
    fileprivate static let tokenOver = RPCStatus(
        .unauthenticated, "The token has expired, so the stream ends.")
}
