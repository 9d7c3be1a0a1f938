import TidemarkModel

/// The faults of a stream: takes the messages of both sides, and returns the resulting messages.
/// Pure.
protocol StreamFaults<Message, Response>: Sendable {
    associatedtype Message: Sendable
    associatedtype Response: Sendable

    mutating func sent(_ message: Message) -> [Message]
    mutating func received(_ response: Response) -> StreamStep<Message, Response>
    /// Returns the status that the client receives when the server has ended the stream.
    func ended(_ status: RPCStatus) -> RPCStatus
    static func size(of response: Response) -> Int
}

extension StreamFaults {
    func ended(_ status: RPCStatus) -> RPCStatus { status }
}

/// The result of a message of the server.
struct StreamStep<Message: Sendable, Response: Sendable>: Sendable {
    var toClient: [Response] = []
    /// The delay of the first message, and of everything after it.
    var holding = Duration.zero
    var toServer: [Message] = []
    /// True if the stream is cut after `toClient`.
    var isCut = false
}

/// Counts messages up to the message at which a call or stream is cut.
struct CutCounter: Sendable {
    enum Place { case none, before, after }

    let cut: FaultEffects.Cut?
    private var count = 0

    init(_ cut: FaultEffects.Cut?) { self.cut = cut }

    /// Returns the place of the cut relative to the present message.
    mutating func next() -> Place {
        count += 1
        switch cut {
        case .before(count)?: return .before
        case .after(count)?: return .after
        case .before?, .after?, nil: return .none
        }
    }
}

/// The faults of a write stream: lost answers to batches, and a cut of the stream.
struct WriteFaults: StreamFaults {
    private let losesResponse: Bool
    private var counter: CutCounter

    init(_ effects: FaultEffects) {
        losesResponse = effects.losesResponse
        counter = CutCounter(effects.cut)
    }

    mutating func sent(_ message: WriteRequest) -> [WriteRequest] { [message] }

    mutating func received(_ response: WriteResponse) -> StreamStep<WriteRequest, WriteResponse> {
        // The first answer, to the handshake, contains no commit.
        if losesResponse, response.commitTime != nil { return StreamStep(isCut: true) }
        switch counter.next() {
        case .none: return StreamStep(toClient: [response])
        case .before: return StreamStep(isCut: true)
        case .after: return StreamStep(toClient: [response], isCut: true)
        }
    }

    static func size(of response: WriteResponse) -> Int { 128 + 64 * response.results.count }
}
