import TidemarkModel

/// The write stream: a handshake, then batches, answered in order. Every request echoes the newest
/// token. Only the result of a batch shows that the server works.
///
/// If our server allows it, the handshake requests an earlier stream again. The lost answers of
/// that stream come first, as they would have come then; the answer to the handshake ends them.
struct WriteStream: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case lifecycle(StreamLifecycle.Event)
        case send([Mutation])
        case received(WriteResponse)
        /// The next stream must be a new one.
        case forgetPosition
    }

    enum Effect: Equatable, Sendable {
        /// All effects except `failed`.
        case lifecycle(StreamLifecycle.Effect)
        /// The end of the stream. If `wasReady` is true, the handshake was over, so a refusal
        /// concerns the first sent batch.
        case failed(RPCStatus, wasReady: Bool)
        /// The server refuses to resume the stream; the next stream is new.
        case resumeRefused
        case request(WriteRequest)
        /// The stream accepts batches from now on, after the position is stored.
        case ready(WritePosition?)
        /// The first sent batch was applied. The position must be stored in the same transaction.
        case committed(
            results: [MutationResult], commitTime: Timestamp, position: WritePosition? = nil)
    }

    private(set) var lifecycle = StreamLifecycle(
        .init(backoff: .writeBackoff, idle: .writeIdle, healthy: .writeHealthy))
    private(set) var isReady = false
    /// The position in the newest response, kept from stream to stream.
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
            // This answers the empty request that ends a stream, or no request at all.
            return []
        }
        position = position.flatMap { WritePosition(streamID: $0.streamID, token: token) }
        return forward(.progressed)
            + [.committed(results: response.results, commitTime: commitTime, position: position)]
    }

    /// Returns true for an answer to an earlier stream, which is not the handshake's answer.
    private func isMissedAnswer(_ response: WriteResponse) -> Bool {
        guard isResuming, let position, response.commitTime != nil else { return false }
        return response.streamID.hasSameBytes(as: position.streamID)
    }
}
