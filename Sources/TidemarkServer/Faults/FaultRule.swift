public import TidemarkModel

/// What is to go wrong, and for which calls. ``FaultyTransport`` makes it happen.
public struct FaultRule: Hashable, Sendable {
    /// Nil for every RPC.
    public var method: RPCMethod?
    /// The caller's label; nil for every caller.
    public var label: String?
    public var selection = Selection.all
    /// How many calls it applies to before it rests; nil for no end.
    public var times: Int?
    public var effects = FaultEffects()

    public init(_ method: RPCMethod? = nil, _ effects: FaultEffects = FaultEffects()) {
        self.method = method
        self.effects = effects
    }

    /// Which of the calls that match. A stream is one call.
    public enum Selection: Hashable, Sendable {
        case all
        /// Each with this chance, 0 to 1.
        case share(Double)
        /// The n-th, the 2n-th and so on.
        case every(Int)
        /// Only the n-th.
        case nth(Int)
    }
}

/// What goes wrong with one call. Where several of them end the call, silence goes before an error, and
/// that before what needs an answer to be there.
///
/// No effect leaves the server in a state that a broken network could not have left it in: what it has
/// committed stays committed, and a stream that is cut is closed at the server too.
public struct FaultEffects: Hashable, Sendable {
    /// How much later everything the server says arrives, the end too; the order is kept. What the call
    /// does to the server, it does at once: a client that gives up has no say in it.
    public var latency: Duration?
    /// How far ``latency`` moves either way.
    public var jitter = Duration.zero
    /// Bytes a second of what the server says, by the estimated sizes of the messages.
    public var bytesPerSecond: Int?
    /// The call ends so, and never reaches the server.
    public var error: RPCStatus?
    /// The call never reaches the server, and nothing is said until it is cancelled or its own deadline
    /// has passed.
    public var isSilent = false
    /// The call or stream ends with `UNAVAILABLE`. Of an RPC with one reply, a cut after it loses it
    /// too: a reply is worth nothing without a good status.
    public var cut: Cut?
    /// Listen: resume tokens come empty. A client then has to begin again from nothing.
    public var dropsTokens = false
    /// Listen: at this boundary (1 is the first) every target that is current gets RESET, then its
    /// whole state again. Not those whose id the server chose, nor those listened to once.
    public var resetAtBoundary: Int?
    /// Listen: the first existence filter of the stream is off by this count, and its bloom filter
    /// holds every name. Where the server sends none, targets that began from nothing get one before
    /// the first boundary at which they are current. Once a stream: a client that asks again is
    /// answered.
    public var filterError: Int?
    /// Listen: how long CURRENT is held back, and all that comes after it.
    public var currentDelay: Duration?
    /// The call has its effect; its answer is lost, and the call ends with `UNAVAILABLE`. Of a write
    /// stream: the answer to its first batch; of a listen: the first message.
    public var losesResponse = false
    /// Listen: changes, deletes and removes of documents come twice. Nothing else of the protocol may.
    public var duplicates = false

    public enum Cut: Hashable, Sendable {
        /// Instead of the n-th message, counted from 1.
        case before(Int)
        case after(Int)
    }

    public init() {}

    static let connectionLost = RPCStatus(
        .unavailable, "The connection was lost: a fault that was ordered.")

    /// Takes what is not set here from another.
    mutating func fill(from other: FaultEffects) {
        if latency == nil {
            latency = other.latency
            jitter = other.jitter
        }
        bytesPerSecond = bytesPerSecond ?? other.bytesPerSecond
        error = error ?? other.error
        isSilent = isSilent || other.isSilent
        cut = cut ?? other.cut
        dropsTokens = dropsTokens || other.dropsTokens
        resetAtBoundary = resetAtBoundary ?? other.resetAtBoundary
        filterError = filterError ?? other.filterError
        currentDelay = currentDelay ?? other.currentDelay
        losesResponse = losesResponse || other.losesResponse
        duplicates = duplicates || other.duplicates
    }
}
