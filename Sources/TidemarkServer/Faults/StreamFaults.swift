import TidemarkModel

/// What goes wrong on one stream: messages of both sides in, what becomes of them out. Pure.
protocol StreamFaults<Message, Response>: Sendable {
    associatedtype Message: Sendable
    associatedtype Response: Sendable

    mutating func sent(_ message: Message) -> [Message]
    mutating func received(_ response: Response) -> StreamStep<Message, Response>
    /// How the client hears that the server has ended it.
    func ended(_ status: RPCStatus) -> RPCStatus
    static func size(of response: Response) -> Int
}

extension StreamFaults {
    func ended(_ status: RPCStatus) -> RPCStatus { status }
}

/// What becomes of a message of the server.
struct StreamStep<Message: Sendable, Response: Sendable>: Sendable {
    var toClient: [Response] = []
    /// How long the first of them, and all that follows, is held back.
    var holding = Duration.zero
    var toServer: [Message] = []
    /// Whether the stream is cut, after `toClient`.
    var isCut = false
}

/// Counts messages up to the one at which a call or stream is cut.
struct CutCounter: Sendable {
    enum Place { case none, before, after }

    let cut: FaultEffects.Cut?
    private var count = 0

    init(_ cut: FaultEffects.Cut?) { self.cut = cut }

    /// Where the cut is, seen from the message that comes now.
    mutating func next() -> Place {
        count += 1
        switch cut {
        case .before(count)?: return .before
        case .after(count)?: return .after
        case .before?, .after?, nil: return .none
        }
    }
}

/// A write stream: the answers to batches may be lost, and the stream cut.
struct WriteFaults: StreamFaults {
    private let losesResponse: Bool
    private var counter: CutCounter

    init(_ effects: FaultEffects) {
        losesResponse = effects.losesResponse
        counter = CutCounter(effects.cut)
    }

    mutating func sent(_ message: WriteRequest) -> [WriteRequest] { [message] }

    mutating func received(_ response: WriteResponse) -> StreamStep<WriteRequest, WriteResponse> {
        // The first answer, to the handshake, says nothing of a commit.
        if losesResponse, response.commitTime != nil { return StreamStep(isCut: true) }
        switch counter.next() {
        case .none: return StreamStep(toClient: [response])
        case .before: return StreamStep(isCut: true)
        case .after: return StreamStep(toClient: [response], isCut: true)
        }
    }

    static func size(of response: WriteResponse) -> Int { 128 + 64 * response.results.count }
}
