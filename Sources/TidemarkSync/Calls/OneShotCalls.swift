import TidemarkModel
import TidemarkResilience

/// Makes calls that are not streams, retries them where useful, and limits their time.
///
/// The rows of a query's read are stored as they arrive (``LongRead``).
// @unchecked: used only on the engine's executor, like the engine.
final class OneShotCalls: @unchecked Sendable {
    private let context: EngineContext
    private let storage: CacheStorage
    private let meter: BillingMeter
    private let reachability: Reachability
    private let connection: ListenConnection
    private let views: QueryViews
    private var calls: [UInt64: SingleCall] = [:]
    private var nextID: UInt64 = 0
    /// The budget of retries for all calls.
    private var credits = RetryCredits()

    static let overdue = RPCStatus(.deadlineExceeded, "The server did not answer in time.")

    init(
        _ context: EngineContext, storage: CacheStorage, meter: BillingMeter,
        reachability: Reachability, connection: ListenConnection, views: QueryViews
    ) {
        self.context = context
        self.storage = storage
        self.meter = meter
        self.reachability = reachability
        self.connection = connection
        self.views = views
    }

    var isEmpty: Bool { calls.isEmpty }

    // MARK: Beginning

    /// Makes a call, and passes on all of its replies at the end, with the status of the last
    /// attempt. If the status is not ``RPCStatus/ok``, replies may be missing.
    func start(
        _ request: Request, tag: ReadTag, rule: RetryRule = .read, deadline: Duration?,
        completion: @escaping @Sendable ([Reply], RPCStatus) -> Void
    ) {
        let longest = CallLimits.longest
        let limits = CallLimits(whole: min(deadline ?? longest, longest))
        start(request, read: nil, tag: tag, rule: rule, limits: limits) { end in
            if case .replies(let replies, let status) = end { completion(replies, status) }
        }
    }

    /// Reads a query from the server. While rows arrive, only the caller's deadline limits the
    /// read. If an attempt breaks, the next one continues after the last row.
    ///
    /// - Parameters:
    ///   - deadline: The caller's deadline for the whole read.
    ///   - silence: The maximum time without a message; nil for ``CallLimits/longest``.
    ///   - mayMixTimes: Allows rows of different times, as in ``LongRead``.
    func startRead(
        _ query: Query, tag: ReadTag, rule: RetryRule = .read, deadline: Duration?,
        silence: Duration? = nil, mayMixTimes: Bool, keepsRows: Bool = true,
        completion: @escaping @Sendable (ReadEnd) -> Void
    ) {
        let read = LongRead(
            query.wireForm, in: context.database, mayMixTimes: mayMixTimes, keepsRows: keepsRows)
        let longest = CallLimits.longest
        let limits = CallLimits(whole: deadline, silence: min(silence ?? longest, longest))
        start(
            .runQuery(RunQueryRequest(query: query.wireForm)), read: read, tag: tag, rule: rule,
            limits: limits
        ) { end in
            switch end {
            case .replies(_, let status): completion(.failed(status))
            case .read(let end): completion(end)
            }
        }
    }

    private func start(
        _ request: Request, read: LongRead?, tag: ReadTag, rule: RetryRule,
        limits: CallLimits, completion: @escaping @Sendable (CallEnd) -> Void
    ) {
        let id = nextID
        nextID += 1
        let now = context.elapsed
        let longest = CallLimits.longest
        var retrying = min(limits.whole ?? limits.silence ?? longest, longest)
        if case .readOrCache(let patience) = rule { retrying = min(retrying, patience) }
        var call = SingleCall(
            engine: context.engineKeeper, request: request, read: read, tag: tag, rule: rule,
            limits: limits, began: now,
            machine: RetryMachine(rule.policy, rule.safety, deadline: retrying), machineBegan: now,
            lastHeard: now, completion: completion)
        let step = call.machine.step(.start(isOnline: true), at: .zero)
        credits.deposit(at: now)
        calls[id] = call
        perform(step, call: id, Self.overdue)
    }

    // MARK: Attempts

    /// - Parameter status: The status of the last attempt.
    private func perform(_ step: RetryMachine.Step, call id: UInt64, _ status: RPCStatus) {
        switch step {
        case .attempt: attempt(id)
        case .wait(let delay):
            calls[id]!.timer = context.after(delay, .callRetry) { [weak self] in
                self?.advance(id, event: .ready, status: status)
            }
        // ``AuthorizedTransport`` has already tried another token, which was also rejected.
        case .refreshCredentials: advance(id, event: .refreshed(isDone: false), status: status)
        // Calls do not wait for the network, because asking shows whether it is there.
        case .awaitNetwork: advance(id, event: .ready, status: status)
        case .giveUp: finish(id, status)
        }
    }

    private func advance(_ id: UInt64, event: RetryMachine.Event, status: RPCStatus) {
        guard let began = calls[id]?.machineBegan else { return }
        let step = calls[id]!.machine.step(event, at: context.elapsed - began)
        if case .failed = event { notifyAttempt(of: id, step) }
        perform(step, call: id, status)
    }

    private func attempt(_ id: UInt64) {
        guard let call = calls[id] else { return }
        if let reason = context.gate.disconnection { return finish(id, reason) }
        if call.read != nil {
            guard let request = calls[id]!.read!.nextRequest() else {
                perform(calls[id]!.read!.step(.ended), call: id)
                return finish(id, .ok)
            }
            calls[id]!.request = .runQuery(request)
        }
        let now = context.elapsed
        reachability.callBegan()
        let left = call.limits.left(of: call.began, at: now).map { max(.zero, $0) }
        let number = call.attempt + 1
        calls[id]!.attempt = number
        calls[id]!.isUnderWay = true
        calls[id]!.replies = []
        calls[id]!.heard = ReadBilling.Heard()
        calls[id]!.lastHeard = now
        calls[id]!.reservation = meter.reserve(calls[id]!.mostReads, call.tag)
        watch(id, number, for: [left, call.limits.silence].compactMap { $0 }.min() ?? .zero)
        send(id, number, timeout: left)
    }

    private func send(_ id: UInt64, _ attempt: Int, timeout: Duration?) {
        var callContext = context.callContext(timeout: timeout)
        if let label = calls[id]!.tag.label { callContext.label = label }
        let flowControl = ReplyFlowControl()
        let handle = context.environment.transport.call(calls[id]!.request, callContext) {
            [weak context] event in
            flowControl.received(event)
            context?.receive(.reply(event, call: id, attempt: attempt, flowControl))
        }
        calls[id]!.handle = handle
        flowControl.attach(handle)
    }

    /// Ends the attempt when the call's time is over or the server has been silent too long.
    private func watch(_ id: UInt64, _ attempt: Int, for time: Duration) {
        calls[id]!.timer = context.after(time, .readDeadline) { [weak self] in
            guard let self, let call = calls[id], call.isUnderWay, call.attempt == attempt else {
                return
            }
            let now = context.elapsed
            let next = call.limits.wait(call, at: now)
            if next > .zero { return watch(id, attempt, for: next) }
            call.handle?.cancel()
            // A connection that has carried rows may carry more; the caller's deadline is final.
            let isLate = call.limits.left(of: call.began, at: now).map { $0 <= .zero } ?? false
            ended(
                id, attempt: attempt, status: Self.overdue,
                isOurs: isLate || call.read?.progress ?? 0 == 0)
        }
    }

    // MARK: What comes

    func received(_ event: StreamEvent<Reply>, call id: UInt64, _ attempt: Int) {
        // Avoids a copy of the call: with a second reference, each appended row would copy the
        // whole array.
        guard calls[id]?.isUnderWay == true, calls[id]?.attempt == attempt else { return }
        switch event {
        case .message(let reply):
            calls[id]!.lastHeard = context.elapsed
            if calls[id]!.read != nil, case .runQuery(let reply) = reply {
                calls[id]!.heard.add(reply)
                perform(calls[id]!.read!.step(.reply(reply)), call: id)
                guard calls[id]?.isGivenUp == false else { return giveUp(id) }
            } else {
                calls[id]!.replies.append(reply)
            }
            reachability.heardByCall()
        case .ended(let status): ended(id, attempt: attempt, status: status)
        }
    }

    /// - Parameter isOurs: True if the attempt was ended here because no time is left.
    private func ended(
        _ id: UInt64, attempt: Int, status: RPCStatus, isOurs: Bool = false
    ) {
        guard let call = calls[id], call.isUnderWay, call.attempt == attempt else { return }
        call.timer?.cancel()
        calls[id]!.isUnderWay = false
        bill(id, call, isWhole: status.code == .ok)
        if isOurs { notifyAttempt(of: id, nil) }
        if call.read != nil {
            guard let next = breakRead(id, status) else { return }
            if next == .over { return finish(id, status) }
            if next == .again, !isOurs { return self.attempt(id) }
        }
        if status.code == .ok || isOurs { return finish(id, status) }
        if status.code != .unavailable, status.code != .deadlineExceeded {
            reachability.heardByCall()
        }
        guard let call = calls[id] else { return }
        advance(id, event: failed(status, call), status: status)
    }

    private func giveUp(_ id: UInt64) {
        guard let call = calls[id] else { return }
        call.handle?.cancel()
        calls[id]!.isUnderWay = false
        bill(id, call, isWhole: false)
        finish(id, RPCStatus(.internal, "The server keeps sending the same rows."))
    }

    /// Counts the reads of an attempt that has ended, in place of its reservation.
    private func bill(_ id: UInt64, _ call: SingleCall, isWhole: Bool) {
        meter.release(call.reservation)
        calls[id]?.reservation = nil
        meter.record(call.bill(isWhole: isWhole), call.tag)
    }

    /// Reports a failed attempt and the next step to observers of reads.
    private func notifyAttempt(of id: UInt64, _ step: RetryMachine.Step?) {
        guard meter.isObserved,
            let attempt = calls[id].flatMap({ AttemptHistory($0.machine.attempts).attempts.last })
        else { return }
        let delay: Duration? =
            switch step {
            case .wait(let delay): delay
            case .attempt: .zero
            case .awaitNetwork, .refreshCredentials, .giveUp, nil: nil
            }
        meter.notify(.attemptFailed(attempt, nextAfter: delay))
    }

    /// Returns the event of a failure. Withdraws from the budget only if the failure would be
    /// retried.
    private func failed(_ status: RPCStatus, _ call: SingleCall) -> RetryMachine.Event {
        let failure = call.rule.failure(
            status, serverIsUnknown: !connection.isOpen && call.read?.progress ?? 0 == 0,
            now: meter.serverNow)
        let (jitter, now) = (context.environment.random(), context.elapsed)
        let needsCredit = call.machine.wouldRetry(
            after: failure, jitter: jitter, at: now - call.machineBegan)
        return .failed(
            failure, jitter: jitter, budgetAllows: !needsCredit || credits.withdraw(at: now))
    }

    private func finish(_ id: UInt64, _ status: RPCStatus) {
        guard let call = calls.removeValue(forKey: id) else { return }
        call.timer?.cancel()
        meter.release(call.reservation)
        if status.code == .unavailable, context.gate.isNetworkEnabled {
            reachability.callFailed(whileStreamIsOpen: connection.isOpen)
        } else if status.code == .ok {
            reachability.heardByCall()
        }
        var status = status
        if status.code != .ok { status.attempts = AttemptHistory(call.machine.attempts) }
        call.end(status)
    }

    /// Ends all calls without an answer.
    func endAll(_ status: RPCStatus) {
        var ended = calls
        calls = [:]
        for id in ended.keys.sorted() {
            ended[id]!.timer?.cancel()
            meter.release(ended[id]!.reservation)
            ended[id]!.handle?.cancel()
            ended[id]!.replies = []
            ended[id]!.end(status)
        }
    }

    // MARK: Reads in parts

    private func perform(_ effects: [LongRead.Effect], call id: UInt64) {
        for effect in effects {
            switch effect {
            case .store(let part, let readTime):
                do {
                    let changed = try storage.local.remote.apply(
                        part.map(RemoteDocument.found), readTime: readTime)
                    views.refresh(changed, awaiting: readTime)
                } catch { return stop(id, SyncError(storing: error)) }
            case .finish(let answer): calls[id]?.answer = answer
            case .giveUp: calls[id]?.isGivenUp = true
            }
        }
    }

    /// Ends a read whose rows cannot be stored.
    private func stop(_ id: UInt64, _ error: SyncError) {
        guard let call = calls.removeValue(forKey: id) else { return }
        call.timer?.cancel()
        call.handle?.cancel()
        meter.release(call.reservation)
        call.completion(.read(.storage(error)))
    }

    private enum NextOfRead { case again, over, asTold }

    /// Keeps the received rows of a broken read.
    ///
    /// - Returns: Whether to ask again immediately; nil if the read has ended here.
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
        // The attempt made progress, so its retries are counted again from here.
        let now = context.elapsed
        let longest = CallLimits.longest
        let left = call.limits.left(of: call.began, at: now).map { max(.zero, $0) }
        calls[id]!.machineBegan = now
        calls[id]!.machine = RetryMachine(
            call.rule.policy, call.rule.safety,
            deadline: min(left ?? call.limits.silence ?? longest, longest))
        _ = calls[id]!.machine.step(.start(isOnline: true), at: .zero)
        return .asTold
    }
}
