import TidemarkModel
import TidemarkResilience

/// A call that is not a stream, with its attempts, until its last reply is there.
struct SingleCall {
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
}

enum CallEnd: Sendable {
    /// Not ``RPCStatus/ok`` means that some may be missing.
    case replies([Reply], RPCStatus)
    case read(ReadEnd)
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
    /// No call waits longer, whatever its caller said; one that brings rows waits so long for the next.
    static let longestCall = Duration.seconds(60)

    /// Makes a call, again where that may help, and hands over all its replies at once, with how the
    /// last attempt ended: not ``RPCStatus/ok`` means that some may be missing.
    func startCall(
        _ request: Request, _ tag: ReadTag, _ rule: RetryRule = .read, deadline: Duration?,
        completion: @escaping @Sendable ([Reply], RPCStatus) -> Void
    ) {
        let limits = CallLimits(whole: min(deadline ?? Self.longestCall, Self.longestCall))
        startCall(request, nil, tag, rule, limits) { end in
            if case .replies(let replies, let status) = end { completion(replies, status) }
        }
    }

    func startCall(
        _ request: Request, _ read: LongRead?, _ tag: ReadTag, _ rule: RetryRule,
        _ limits: CallLimits, completion: @escaping @Sendable (CallEnd) -> Void
    ) {
        let id = nextCallID
        nextCallID += 1
        let now = environment.scheduler.elapsed
        var retrying = min(limits.whole ?? limits.silence ?? Self.longestCall, Self.longestCall)
        if case .readOrCache(let patience) = rule { retrying = min(retrying, patience) }
        var call = SingleCall(
            request: request, read: read, tag: tag, rule: rule, limits: limits, began: now,
            machine: RetryMachine(rule.policy, rule.safety, deadline: retrying), machineBegan: now,
            lastHeard: now, completion: completion)
        let step = call.machine.step(.start(isOnline: true), at: .zero)
        credits.deposit(at: now)
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
        guard let began = calls[id]?.machineBegan else { return }
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
        if call.read != nil {
            guard let request = calls[id]!.read!.nextRequest() else {
                perform(calls[id]!.read!.step(.ended), call: id)
                return finish(id, .ok)
            }
            calls[id]!.request = .runQuery(request)
        }
        let scheduler = environment.scheduler
        let now = scheduler.elapsed
        if silentSince == nil { silentSince = now }
        let left = call.limits.whole.map { max(.zero, $0 - (now - call.began)) }
        let number = call.attempt + 1
        var context = context(timeout: left)
        context.label = call.tag.label ?? configuration.label
        calls[id]!.attempt = number
        calls[id]!.isUnderWay = true
        calls[id]!.replies = []
        calls[id]!.heard = ReadBilling.Heard()
        calls[id]!.lastHeard = now
        watch(id, number, for: [left, call.limits.silence].compactMap { $0 }.min() ?? .zero)
        let inlet = CallInlet()
        let handle = environment.transport.call(calls[id]!.request, context) { [weak self] event in
            inlet.came(event)
            scheduler.enqueue { [weak self] in
                inlet.taken(event)
                self?.received(event, call: id, number)
            }
        }
        calls[id]!.handle = handle
        inlet.attach(handle)
    }

    /// Cuts the attempt off when the time of the call is over, or the server has been silent too long.
    private func watch(_ id: UInt64, _ attempt: Int, for time: Duration) {
        calls[id]!.timer = environment.scheduler.schedule(.readDeadline, after: time) {
            [weak self] in
            guard let self, let call = calls[id], call.isUnderWay, call.attempt == attempt else {
                return
            }
            let now = environment.scheduler.elapsed
            let left = call.limits.whole.map { $0 - (now - call.began) }
            let silence = call.limits.silence.map { $0 - (now - call.lastHeard) }
            let next = [left, silence].compactMap { $0 }.min() ?? .zero
            if next > .zero { return watch(id, attempt, for: next) }
            call.handle?.cancel()
            // A line that has carried rows may do so again; a caller's deadline is the end.
            let isOver = left.map { $0 <= .zero } ?? false || call.read?.progress ?? 0 == 0
            ended(id, attempt, RPCStatus(.deadlineExceeded, Self.tooLate), isOurs: isOver)
        }
    }

    private func received(_ event: StreamEvent<Reply>, call id: UInt64, _ attempt: Int) {
        // Without a copy of the call: an array that two hold is copied whole by each row appended.
        guard calls[id]?.isUnderWay == true, calls[id]?.attempt == attempt else { return }
        switch event {
        case .message(let reply):
            calls[id]!.lastHeard = environment.scheduler.elapsed
            if calls[id]!.read != nil, case .runQuery(let reply) = reply {
                calls[id]!.heard.add(reply)
                perform(calls[id]!.read!.step(.reply(reply)), call: id)
                guard calls[id]?.isGivenUp == false else { return giveUp(id) }
            } else {
                calls[id]!.replies.append(reply)
            }
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
        record(bill(for: call, isWhole: status.code == .ok), call.tag)
        if isOurs { tellAttempt(of: id, nil) }
        if call.read != nil {
            guard let next = breakRead(id, status) else { return }
            if next == .over { return finish(id, status) }
            if next == .again, !isOurs { return self.attempt(id) }
        }
        if status.code == .ok || isOurs { return finish(id, status) }
        if status.code != .unavailable, status.code != .deadlineExceeded { heardByCall() }
        guard let call = calls[id] else { return }
        advance(id, failed(failure(status, call), call), status)
    }

    private func bill(for call: SingleCall, isWhole: Bool) -> ReadBilling.Bill {
        guard call.read != nil, case .runQuery(let request) = call.request else {
            return ReadBilling.bill(for: call.request, call.replies, isWhole: isWhole)
        }
        return ReadBilling.bill(for: request.query, call.heard, isWhole: isWhole)
    }

    private func giveUp(_ id: UInt64) {
        guard let call = calls[id] else { return }
        call.handle?.cancel()
        calls[id]!.isUnderWay = false
        record(bill(for: call, isWhole: false), call.tag)
        finish(id, RPCStatus(.internal, "The server sends the same rows again and again."))
    }

    private enum NextOfRead { case again, over, asTold }

    /// Keeps what came of a read in parts.
    ///
    /// - Returns: Whether it is to be asked again at once; nil when it has ended here.
    private func breakRead(_ id: UInt64, _ status: RPCStatus) -> NextOfRead? {
        guard let read = calls[id]?.read else { return nil }
        if status.code == .ok {
            perform(calls[id]!.read!.step(.ended), call: id)
            return calls[id] == nil ? nil : .asTold
        }
        let isAboutTime = read.isAboutTime(status)
        perform(calls[id]!.read!.step(isAboutTime ? .timeForgotten : .broke), call: id)
        guard let call = calls[id] else { return nil }
        if call.isGivenUp { return .over }
        if isAboutTime { return .again }
        guard read.progress > 0 else { return .asTold }
        // It got on: the retries that it may make are counted from here.
        let now = environment.scheduler.elapsed
        let left = call.limits.whole.map { max(.zero, $0 - (now - call.began)) }
        calls[id]!.machineBegan = now
        calls[id]!.machine = RetryMachine(
            call.rule.policy, call.rule.safety,
            deadline: min(left ?? call.limits.silence ?? Self.longestCall, Self.longestCall))
        _ = calls[id]!.machine.step(.start(isOnline: true), at: .zero)
        return .asTold
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
        if case .readOrCache = call.rule, status.code == .unavailable, !listenStream.isOpen,
            call.read?.progress ?? 0 == 0
        {
            // Most likely there is no network: the cache answers, and probes find out.
            return Failure(.permanent)
        }
        return call.rule.table.failure(status, now: serverNow)
    }

    /// Takes from the budget only for what would be tried again.
    private func failed(_ failure: Failure, _ call: SingleCall) -> RetryMachine.Event {
        let (jitter, now) = (environment.random(), environment.scheduler.elapsed)
        let needsCredit = call.machine.wouldRetry(
            after: failure, jitter: jitter, at: now - call.machineBegan)
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
        call.end(status)
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
