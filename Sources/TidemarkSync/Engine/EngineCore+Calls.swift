import TidemarkModel
import TidemarkResilience

/// A call that is not a stream, with its attempts, until its last reply is there.
struct SingleCall {
    let request: Request
    let tag: ReadTag
    let rule: RetryRule
    /// The scheduler's time.
    let began: Duration
    /// When it must be over; nobody waits longer.
    let limit: Duration
    var machine: RetryMachine
    /// The newest attempt; what comes of an older one is late.
    var attempt = 0
    /// Whether it has not ended.
    var isUnderWay = false
    var replies: [Reply] = []
    var handle: (any CancellableCall)?
    var timer: (any CancellableCall)?
    let completion: @Sendable ([Reply], RPCStatus) -> Void
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
}

extension EngineCore {
    /// No call waits longer, whatever its caller said.
    static let longestCall = Duration.seconds(60)

    /// Makes a call, again where that may help, and hands over all its replies at once, with how the
    /// last attempt ended: not ``RPCStatus/ok`` means that some may be missing.
    func startCall(
        _ request: Request, _ tag: ReadTag, _ rule: RetryRule = .read, deadline: Duration?,
        completion: @escaping @Sendable ([Reply], RPCStatus) -> Void
    ) {
        let id = nextCallID
        nextCallID += 1
        let limit = min(deadline ?? Self.longestCall, Self.longestCall)
        var retrying = limit
        if case .readOrCache(let patience) = rule { retrying = min(limit, patience) }
        var call = SingleCall(
            request: request, tag: tag, rule: rule, began: environment.scheduler.elapsed,
            limit: limit, machine: RetryMachine(rule.policy, rule.safety, deadline: retrying),
            completion: completion)
        let step = call.machine.step(.start(isOnline: true), at: .zero)
        credits.deposit(at: call.began)
        calls[id] = call
        perform(step, call: id, RPCStatus(.deadlineExceeded, Self.tooLate))
    }

    private static let tooLate = "The server did not answer in time."

    /// - Parameter status: What the last attempt ended with.
    private func perform(_ step: RetryMachine.Step, call id: UInt64, _ status: RPCStatus) {
        switch step {
        case .attempt: attempt(id)
        case .wait(let delay):
            calls[id]!.timer = environment.scheduler.schedule(.callRetry, after: delay) {
                [weak self] in self?.advance(id, .ready, status)
            }
        // ``AuthorizedTransport`` has asked for another token already, and was refused again.
        case .refreshCredentials: advance(id, .refreshed(isDone: false), status)
        // Nobody waits for a network here: it is asked.
        case .awaitNetwork: advance(id, .ready, status)
        case .giveUp: finish(id, status)
        }
    }

    private func advance(_ id: UInt64, _ event: RetryMachine.Event, _ status: RPCStatus) {
        guard let began = calls[id]?.began else { return }
        let step = calls[id]!.machine.step(event, at: environment.scheduler.elapsed - began)
        if case .failed = event { tellAttempt(of: id, step) }
        perform(step, call: id, status)
    }

    private func attempt(_ id: UInt64) {
        guard let call = calls[id] else { return }
        guard networkEnabled else {
            let reason =
                isReadOnly
                ? "This client only reads a cache that another one has open."
                : "The network is turned off."
            return finish(id, RPCStatus(.unavailable, reason))
        }
        let scheduler = environment.scheduler
        if silentSince == nil { silentSince = scheduler.elapsed }
        let left = max(.zero, call.limit - (scheduler.elapsed - call.began))
        let number = call.attempt + 1
        var context = context(timeout: left)
        context.label = call.tag.label ?? configuration.label
        calls[id]!.attempt = number
        calls[id]!.isUnderWay = true
        calls[id]!.replies = []
        calls[id]!.timer = scheduler.schedule(.readDeadline, after: left) { [weak self] in
            self?.calls[id]?.handle?.cancel()
            self?.ended(id, number, RPCStatus(.deadlineExceeded, Self.tooLate), isOurs: true)
        }
        calls[id]!.handle = environment.transport.call(call.request, context) { [weak self] event in
            scheduler.enqueue { [weak self] in self?.received(event, call: id, number) }
        }
    }

    private func received(_ event: StreamEvent<Reply>, call id: UInt64, _ attempt: Int) {
        // Without a copy of the call: an array that two hold is copied whole by each row appended.
        guard calls[id]?.isUnderWay == true, calls[id]?.attempt == attempt else { return }
        switch event {
        case .message(let reply):
            calls[id]!.replies.append(reply)
            heardByCall()
        case .ended(let status): ended(id, attempt, status)
        }
    }

    /// - Parameter isOurs: Whether the attempt was cut off here, because no time is left.
    private func ended(
        _ id: UInt64, _ attempt: Int, _ status: RPCStatus, isOurs: Bool = false
    ) {
        guard let call = calls[id], call.isUnderWay, call.attempt == attempt else { return }
        call.timer?.cancel()
        calls[id]!.isUnderWay = false
        record(
            ReadBilling.bill(for: call.request, call.replies, isWhole: status.code == .ok),
            call.tag)
        if isOurs { tellAttempt(of: id, nil) }
        if status.code == .ok || isOurs { return finish(id, status) }
        if status.code != .unavailable, status.code != .deadlineExceeded { heardByCall() }
        advance(id, failed(failure(status, call), call), status)
    }

    /// Observers of reads hear what became of an attempt that failed, and what comes next.
    private func tellAttempt(of id: UInt64, _ step: RetryMachine.Step?) {
        guard !readObservers.isEmpty,
            let attempt = calls[id].flatMap({ AttemptHistory($0.machine.attempts).attempts.last })
        else { return }
        let delay: Duration? =
            switch step {
            case .wait(let delay): delay
            case .attempt: .zero
            case .awaitNetwork, .refreshCredentials, .giveUp, nil: nil
            }
        tellReads(.attemptFailed(attempt, nextAfter: delay))
    }

    private func failure(_ status: RPCStatus, _ call: SingleCall) -> Failure {
        if case .readOrCache = call.rule, status.code == .unavailable, !listenStream.isOpen {
            // Most likely there is no network: the cache answers, and probes find out.
            return Failure(.permanent)
        }
        return call.rule.table.failure(status, now: serverNow)
    }

    /// Takes from the budget only for what would be tried again.
    private func failed(_ failure: Failure, _ call: SingleCall) -> RetryMachine.Event {
        let (jitter, now) = (environment.random(), environment.scheduler.elapsed)
        let needsCredit = call.machine.wouldRetry(
            after: failure, jitter: jitter, at: now - call.began)
        return .failed(
            failure, jitter: jitter, budgetAllows: !needsCredit || credits.withdraw(at: now))
    }

    private func finish(_ id: UInt64, _ status: RPCStatus) {
        guard let call = calls.removeValue(forKey: id) else { return }
        call.timer?.cancel()
        if status.code == .unavailable, networkEnabled {
            silentSince = nil
            nextProbe =
                environment.scheduler.elapsed
                + probeBackoff.nextDelay(
                    elapsed: environment.scheduler.elapsed, jitter: environment.random())
            if !listenStream.isOpen { perform(online.step(.callFailed)) }
        } else if status.code == .ok {
            heardByCall()
        }
        var status = status
        if status.code != .ok { status.attempts = AttemptHistory(call.machine.attempts) }
        call.completion(call.replies, status)
    }

    /// The server is there: streams that wait to try again need not.
    private func heardByCall() {
        guard state == .running else { return }
        let wasOffline = online.state == .offline
        probeBackoff.reset()
        nextProbe = .zero
        heard()
        guard wasOffline else { return }
        performListen(.inhibitBackoff)
        performWrite(.inhibitBackoff)
        startStreams()
    }

    /// - Parameter status: Not ok.
    func error(_ status: RPCStatus) -> SyncError {
        state == .terminated ? .terminated : .server(status)
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
