public import TidemarkModel

/// A fault, and the calls that it applies to. ``FaultyTransport`` applies it.
public struct FaultRule: Hashable, Sendable {
    /// The RPC; nil for every RPC.
    public var method: RPCMethod?
    /// The caller's label; nil for every caller.
    public var label: String?
    public var selection = Selection.all
    /// The maximum number of calls that the rule applies to; nil for no limit.
    public var times: Int?
    public var effects = FaultEffects()

    public init(_ method: RPCMethod? = nil, _ effects: FaultEffects = FaultEffects()) {
        self.method = method
        self.effects = effects
    }

    /// The selection among the matching calls. A stream is a single call.
    public enum Selection: Hashable, Sendable {
        case all
        /// Each call with this probability, 0 to 1.
        case share(Double)
        /// The n-th call, the 2n-th and so on.
        case every(Int)
        /// Only the n-th call.
        case nth(Int)
    }
}

/// The effects of faults on a call. If several of them end the call, silence has priority over an
/// error, and an error over effects that need an answer.
///
/// Each effect leaves the server in a state that a broken network could also cause: its commits
/// stay, and a cut stream is also closed at the server.
public struct FaultEffects: Hashable, Sendable {
    /// The delay of everything that the server sends, including the end; the order is kept. The
    /// call's effects on the server are immediate, and a client that gives up cannot prevent them.
    public var latency: Duration?
    /// The maximum deviation of ``latency`` in both directions.
    public var jitter = Duration.zero
    /// The bandwidth of the server's messages in bytes per second, by their estimated sizes.
    public var bytesPerSecond: Int?
    /// The status with which the call ends, without reaching the server.
    public var error: RPCStatus?
    /// True if the call never reaches the server, and has no answer until it is cancelled or its
    /// own deadline has passed.
    public var isSilent = false
    /// The point at which the call or stream ends with `UNAVAILABLE`. For an RPC with a single
    /// reply, a cut after the reply also loses the reply, because a reply needs a good status.
    public var cut: Cut?
    /// Listen: resume tokens are empty. A client must then start again from nothing.
    public var dropsTokens = false
    /// Listen: the boundary (1 is the first) at which every current target receives RESET, and then
    /// its whole state again. Targets whose id the server chose, and targets that listen once, are
    /// excluded.
    public var resetAtBoundary: Int?
    /// Listen: the error in the count of the stream's first existence filter, whose bloom filter
    /// then contains every name. If the server sends no filter, targets that began from nothing
    /// receive a filter before the first boundary at which they are current. This happens once per
    /// stream: a client that asks again receives a correct answer.
    public var filterError: Int?
    /// Listen: the delay of CURRENT and everything after it.
    public var currentDelay: Duration?
    /// True if the call takes effect, its answer is lost, and the call ends with `UNAVAILABLE`. For
    /// a write stream, the answer to its first batch is lost; for a listen, the first message.
    public var losesResponse = false
    /// Listen: changes, deletes and removes of documents are sent twice. Other messages must not
    /// be.
    public var duplicates = false

    public enum Cut: Hashable, Sendable {
        /// The cut replaces the n-th message, counted from 1.
        case before(Int)
        case after(Int)
    }

    public init() {}

    static let connectionLost = RPCStatus(
        .unavailable, "The connection was lost: this is a simulated fault.")

    /// Takes the unset effects from another value.
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
