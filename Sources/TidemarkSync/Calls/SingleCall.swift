import TidemarkModel
import TidemarkResilience

/// A call that is not a stream, with its attempts, until its last reply is there.
struct SingleCall {
    /// Whoever waits for a call is answered: so long the engine stays.
    let engine: EngineCore
    /// Of the newest attempt.
    var request: Request
    /// For a query whose rows are stored as they come.
    var read: LongRead?
    let tag: ReadTag
    let rule: RetryRule
    let limits: CallLimits
    /// The scheduler's time.
    let began: Duration
    var machine: RetryMachine
    /// By the scheduler: what the machine counts from.
    var machineBegan: Duration
    /// By the scheduler: of the newest message, or of the attempt's beginning.
    var lastHeard: Duration
    /// The newest attempt; what comes of an older one is late.
    var attempt = 0
    /// Whether it has not ended.
    var isUnderWay = false
    /// Those of the newest attempt; of a read in parts none.
    var replies: [Reply] = []
    /// What the newest attempt of a read in parts has heard.
    var heard = ReadBilling.Heard()
    var answer: LongRead.Answer?
    var isGivenUp = false
    var handle: (any CancellableCall)?
    var timer: (any CancellableCall)?
    let completion: @Sendable (CallEnd) -> Void

    func end(_ status: RPCStatus) {
        guard read != nil else { return completion(.replies(replies, status)) }
        if status.code == .ok, let answer { return completion(.read(.rows(answer))) }
        completion(.read(.failed(status)))
    }

    /// What the newest attempt is billed.
    ///
    /// - Parameter isWhole: Whether its answer came to its end.
    func bill(isWhole: Bool) -> ReadBilling.Bill {
        guard read != nil, case .runQuery(let request) = request else {
            return ReadBilling.bill(for: request, replies, isWhole: isWhole)
        }
        return ReadBilling.bill(for: request.query, heard, isWhole: isWhole)
    }
}

enum CallEnd: Sendable {
    /// Not ``RPCStatus/ok`` means that some may be missing.
    case replies([Reply], RPCStatus)
    case read(ReadEnd)
}

/// How a query that was read once has ended.
enum ReadEnd: Sendable {
    case rows(LongRead.Answer)
    case failed(RPCStatus)
    case storage(SyncError)

    /// - Parameter error: What a status means for the caller.
    func answer(_ error: (RPCStatus) -> SyncError) -> Result<LongRead.Answer, SyncError> {
        switch self {
        case .rows(let answer): .success(answer)
        case .failed(let status): .failure(error(status))
        case .storage(let error): .failure(error)
        }
    }
}

/// How long a call may take.
struct CallLimits: Equatable, Sendable {
    /// From its start; nil for as long as messages come.
    var whole: Duration?
    /// Without a message; nil for as long as `whole` lasts.
    var silence: Duration?

    /// No call waits longer, whatever its caller said; one that brings rows waits so long for the next.
    static let longest = Duration.seconds(60)

    /// - Parameter began: By the scheduler, like `now`.
    func left(of began: Duration, at now: Duration) -> Duration? {
        whole.map { $0 - (now - began) }
    }

    /// What is left until the call is cut off; not positive when it is time.
    func wait(_ call: SingleCall, at now: Duration) -> Duration {
        let silent = silence.map { $0 - (now - call.lastHeard) }
        return [left(of: call.began, at: now), silent].compactMap { $0 }.min() ?? .zero
    }
}

/// Which failures of a call are worth another attempt.
enum RetryRule: Equatable, Sendable {
    case read
    /// A read that the cache answers where the server does not: it is not kept waiting for a network
    /// that is not there, nor beyond `within`.
    case readOrCache(within: Duration)
    case write(isIdempotent: Bool)

    var policy: RetryPolicy {
        var policy = RetryPolicy.firestoreRead
        if case .write = self { policy = .firestoreWrite }
        // An attempt may use all the time there is: what is slow is billed already.
        policy.attemptTimeout = nil
        policy.waitsForNetwork = false
        return policy
    }

    var table: RetryTable { if case .write = self { .writes } else { .reads } }

    var safety: CallSafety {
        guard case .write(let isIdempotent) = self else { return .read }
        return isIdempotent ? .idempotentWrite : .write
    }

    /// What a failure means.
    ///
    /// - Parameters:
    ///   - serverIsUnknown: Whether nothing shows that there is a network.
    ///   - now: By the server's clock.
    func failure(_ status: RPCStatus, serverIsUnknown: Bool, now: Timestamp) -> Failure {
        if case .readOrCache = self, status.code == .unavailable, serverIsUnknown {
            // Most likely there is no network: the cache answers, and probes find out.
            return Failure(.permanent)
        }
        return table.failure(status, now: now)
    }
}

extension AttemptHistory {
    init(_ attempts: [RetryMachine.Attempt]) {
        self.init(
            attempts.map { attempt in
                CallAttempt(
                    number: attempt.number, began: attempt.began, ended: attempt.ended,
                    outcome: attempt.failure?.kind.rawValue)
            })
    }
}
