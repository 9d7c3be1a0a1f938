import TidemarkModel

/// The write stream: a handshake first, then batches, answered in order; every request echoes the
/// newest token. Only the result of a batch shows that the server is well.
///
/// A stream that our server lets us take up again is asked for in the handshake. The answers to it
/// that were lost come first, as they would have come then; the handshake's own ends them.
struct WriteStream: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case lifecycle(StreamLifecycle.Event)
        case send([Mutation])
        case received(WriteResponse)
        /// The next stream shall be a new one.
        case forgetPosition
    }

    enum Effect: Equatable, Sendable {
        /// All but `failed`.
        case lifecycle(StreamLifecycle.Effect)
        /// `wasReady`: the handshake was over, so a refusal is of the first batch under way.
        case failed(RPCStatus, wasReady: Bool)
        /// The server does not want the stream to be taken up: the next one is new.
        case resumeRefused
        case request(WriteRequest)
        /// The stream takes batches from now on, once the position is stored.
        case ready(WritePosition?)
        /// The first batch under way was applied; the position is to be stored with that.
        case committed(
            results: [MutationResult], commitTime: Timestamp, position: WritePosition? = nil)
    }

    private(set) var lifecycle = StreamLifecycle(
        .init(backoff: .writeBackoff, idle: .writeIdle, healthy: .writeHealthy))
    private(set) var isReady = false
    /// What the newest response said, kept from stream to stream.
    private var position: WritePosition?
    private var isResuming = false
    private var token: [UInt8] = []

    init(position: WritePosition? = nil) { self.position = position }

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
        case .forgetPosition:
            precondition(!isOpen, "an open stream goes on from its position")
            position = nil
            return []
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
                effects.append(failure(status))
            } else {
                effects.append(.lifecycle(effect))
            }
            if effect == .open { effects.append(.request(opening)) }
        }
        if !lifecycle.isOpen || effects.contains(.lifecycle(.open)) {
            isReady = false
            isResuming = lifecycle.isOpen && position != nil
            token = []
        }
        return effects
    }

    private var opening: WriteRequest {
        WriteRequest(streamID: position?.streamID ?? "", streamToken: position?.token ?? [])
    }

    private mutating func failure(_ status: RPCStatus) -> Effect {
        guard isResuming, status.code.refusesResume else {
            return .failed(status, wasReady: isReady)
        }
        position = nil
        return .resumeRefused
    }

    private mutating func receive(_ response: WriteResponse) -> [Effect] {
        guard isOpen else { return [] }
        token = response.streamToken
        if !isReady && !isMissedAnswer(response) {
            isReady = true
            isResuming = false
            position = WritePosition(streamID: response.streamID, token: token)
            return [.ready(position)]
        }
        guard let commitTime = response.commitTime else {
            // The answer to the empty request that ends a stream, or nothing we asked for.
            return []
        }
        position = position.flatMap { WritePosition(streamID: $0.streamID, token: token) }
        return forward(.progressed)
            + [.committed(results: response.results, commitTime: commitTime, position: position)]
    }

    /// Whether it is an answer to an earlier stream, and not the handshake's.
    private func isMissedAnswer(_ response: WriteResponse) -> Bool {
        guard isResuming, let position, response.commitTime != nil else { return false }
        return response.streamID.hasSameBytes(as: position.streamID)
    }
}
