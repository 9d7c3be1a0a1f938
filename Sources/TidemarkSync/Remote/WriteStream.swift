import TidemarkModel

/// The write stream: a handshake first, then batches, answered in order; every request echoes the
/// newest token. Only the result of a batch shows that the server is well.
struct WriteStream: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case lifecycle(StreamLifecycle.Event)
        case send([Mutation])
        case received(WriteResponse)
    }

    enum Effect: Equatable, Sendable {
        /// All but `failed`.
        case lifecycle(StreamLifecycle.Effect)
        /// `wasReady`: the handshake was over, so a refusal is of the first batch under way.
        case failed(RPCStatus, wasReady: Bool)
        case request(WriteRequest)
        /// The stream takes batches from now on.
        case ready
        case committed(results: [MutationResult], commitTime: Timestamp)
    }

    private(set) var lifecycle = StreamLifecycle(
        .init(backoff: .writeBackoff, idle: .writeIdle, healthy: .writeHealthy))
    private(set) var isReady = false
    private var token: [UInt8] = []

    var isOpen: Bool { lifecycle.isOpen }
    var isStarted: Bool { lifecycle.isStarted }

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .lifecycle(let event): return forward(event)
        case .send(let mutations):
            precondition(isReady && isOpen)
            return forward(.used)
                + [.request(WriteRequest(streamToken: token, mutations: mutations))]
        case .received(let response): return receive(response)
        }
    }

    private mutating func forward(_ event: StreamLifecycle.Event) -> [Effect] {
        var effects: [Effect] = []
        let wasReady = isReady
        for effect in lifecycle.step(event) {
            if effect == .close, wasReady {
                effects.append(.request(WriteRequest(streamToken: token)))
            }
            if case .failed(let status) = effect {
                effects.append(.failed(status, wasReady: wasReady))
            } else {
                effects.append(.lifecycle(effect))
            }
            if effect == .open { effects.append(.request(WriteRequest())) }
        }
        if !lifecycle.isOpen || effects.contains(.lifecycle(.open)) {
            isReady = false
            token = []
        }
        return effects
    }

    private mutating func receive(_ response: WriteResponse) -> [Effect] {
        guard isOpen else { return [] }
        token = response.streamToken
        guard isReady else {
            isReady = true
            return [.ready]
        }
        guard let commitTime = response.commitTime else {
            // The answer to the empty request that ends a stream, or nothing we asked for.
            return []
        }
        return forward(.progressed)
            + [.committed(results: response.results, commitTime: commitTime)]
    }
}
