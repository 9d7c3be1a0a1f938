import TidemarkModel
import TidemarkResilience

/// A call that is not a stream, with its attempts, until its last reply has arrived.
struct SingleCall {
    /// Keeps the engine alive until the caller has an answer.
    let engine: AnyObject
    /// The request of the newest attempt.
    var request: Request
    /// The state of a read whose rows are stored as they arrive; nil for other calls.
    var read: LongRead?
    let tag: ReadTag
    let rule: RetryRule
    let limits: CallLimits
    /// The start of the call, on the scheduler's clock.
    let began: Duration
    var machine: RetryMachine
    /// The time from which the machine counts, on the scheduler's clock.
    var machineBegan: Duration
    /// The time of the newest message, or of the start of the attempt, on the scheduler's clock.
    var lastHeard: Duration
    /// The number of the newest attempt. Messages of older attempts are ignored.
    var attempt = 0
    /// True while the attempt is in progress.
    var isUnderWay = false
    /// The replies of the newest attempt; empty for a read in parts.
    var replies: [Reply] = []
    /// The data received by the newest attempt of a read in parts.
    var heard = ReadBilling.Heard()
    var answer: LongRead.Answer?
    var isGivenUp = false
    var handle: (any CancellableCall)?
    /// The reads that are reserved for the attempt in progress.
    var reservation: BillingMeter.Reservation?
    var timer: (any CancellableCall)?
    let completion: @Sendable (CallEnd) -> Void

    func end(_ status: RPCStatus) {
        guard read != nil else { return completion(.replies(replies, status)) }
        if status.code == .ok, let answer { return completion(.read(.rows(answer))) }
        completion(.read(.failed(status)))
    }

    /// The reads to reserve for an attempt.
    var mostReads: Int {
        switch request {
        case .batchGetDocuments(let request): request.paths.count
        case .runQuery(let request): request.query.mostReads
        case .runAggregationQuery: 1
        case .executePipeline: ReadReservations.unknownSize
        default: 0
        }
    }

    /// Returns the bill of the newest attempt.
    ///
    /// - Parameter isWhole: True if the answer was complete.
    func bill(isWhole: Bool) -> ReadBilling.Bill {
        guard read != nil, case .runQuery(let request) = request else {
            return ReadBilling.bill(for: request, replies, isWhole: isWhole)
        }
        return ReadBilling.bill(for: request.query, heard, isWhole: isWhole)
    }
}

enum CallEnd: Sendable {
    /// The replies and the status. If the status is not ``RPCStatus/ok``, replies may be missing.
    case replies([Reply], RPCStatus)
    case read(ReadEnd)
}

/// The result of a query read.
enum ReadEnd: Sendable {
    case rows(LongRead.Answer)
    case failed(RPCStatus)
    case storage(SyncError)

    /// - Parameter error: Converts a status to the caller's error.
    func answer(_ error: (RPCStatus) -> SyncError) -> Result<LongRead.Answer, SyncError> {
        switch self {
        case .rows(let answer): .success(answer)
        case .failed(let status): .failure(error(status))
        case .storage(let error): .failure(error)
        }
    }
}

/// The time limits of a call.
struct CallLimits: Equatable, Sendable {
    /// The limit for the whole call; nil while messages arrive.
    var whole: Duration?
    /// The limit without a message; nil while `whole` lasts.
    var silence: Duration?

    /// The maximum for every call, whatever its caller allows. A call that receives rows waits this
    /// long for the next one.
    static let longest = Duration.seconds(60)

    /// - Parameter began: The start of the call on the scheduler's clock, like `now`.
    func left(of began: Duration, at now: Duration) -> Duration? {
        whole.map { $0 - (now - began) }
    }

    /// Returns the time until the call must be ended; zero or negative if it is over.
    func wait(_ call: SingleCall, at now: Duration) -> Duration {
        let silent = silence.map { $0 - (now - call.lastHeard) }
        return [left(of: call.began, at: now), silent].compactMap { $0 }.min() ?? .zero
    }
}

/// The failures of a call that are worth another attempt.
enum RetryRule: Equatable, Sendable {
    case read
    /// A read that the cache can answer. It does not wait for a missing network, nor longer than
    /// `within`.
    case readOrCache(within: Duration)
    case write(isIdempotent: Bool)

    var policy: RetryPolicy {
        var policy = RetryPolicy.firestoreRead
        if case .write = self { policy = .firestoreWrite }
        // An attempt may use all the time left, because a slow answer is billed already.
        policy.attemptTimeout = nil
        policy.waitsForNetwork = false
        return policy
    }

    var table: RetryTable { if case .write = self { .writes } else { .reads } }

    var safety: CallSafety {
        guard case .write(let isIdempotent) = self else { return .read }
        return isIdempotent ? .idempotentWrite : .write
    }

    /// Classifies a failure.
    ///
    /// - Parameters:
    ///   - serverIsUnknown: True if there is no sign of a network.
    ///   - now: The time on the server's clock.
    func failure(_ status: RPCStatus, serverIsUnknown: Bool, now: Timestamp) -> Failure {
        if case .readOrCache = self, status.code == .unavailable, serverIsUnknown {
            // There is probably no network: the cache answers, and probes detect when the server is
            // available again.
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

extension Query {
    /// The reads to reserve for the query: its limit, or a guess if it has none.
    var mostReads: Int {
        max(1, limit.map { $0.count + offset } ?? ReadReservations.unknownSize)
    }
}
