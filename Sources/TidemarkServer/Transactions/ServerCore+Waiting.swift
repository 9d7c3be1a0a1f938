import TidemarkModel
import TidemarkStore

extension ServerCore {
    // MARK: Asking for locks

    /// - Returns: Nil when it is granted, else the ticket to wait with.
    /// - Throws: `aborted` for the victim of a deadlock, and where too many wait already; the
    ///   transaction is over then.
    func lock(
        _ access: LockAccess, _ database: DatabaseID, _ claimant: LockClaimant,
        again ticket: LockTicket?
    ) throws(RPCStatus) -> LockTicket? {
        let decision = locks.request(access, in: database, by: claimant, again: ticket)
        for victim in locks.takeVictims() {
            transactions.end(victim.transaction, .rolledBack)
            for ticket in victim.tickets { fail(ticket, TransactionTable.deadlock) }
        }
        switch decision {
        case .granted: return nil
        case .waits(let ticket): return ticket
        case .deadlock: throw TransactionTable.deadlock
        case .full:
            if case .transaction(let id, _) = claimant { endTransaction(id, .rolledBack) }
            throw TransactionTable.contention
        }
    }

    /// Takes the locks of a read inside a transaction, which it begins where the read says so.
    ///
    /// - Returns: The ticket to wait with; nil when the read may go on, or is about to be refused.
    private func lockReading(
        _ request: Request, _ database: DatabaseID, again ticket: LockTicket?
    ) throws(RPCStatus) -> LockTicket? {
        let id: TransactionID
        switch request.consistency {
        case .latest, .at, nil: return nil
        case .transaction(let transaction): id = transaction
        case .newTransaction(let options):
            if request.lockedReading(in: database) == nil { return nil }
            if let begun { id = begun } else { id = try beginTransaction(options, database) }
            begun = id
        }
        let open = try transactions.use(id, database: database, now: now)
        guard case .pessimistic = open.mode,
            let reading = request.lockedReading(in: database)
        else { return nil }
        if locks.count(of: id) + reading.documents.count >= TransactionTable.maxReads {
            throw TransactionTable.tooManyReads
        }
        return try lock(
            .read(reading), database, .transaction(id, age: open.age), again: ticket)
    }

    // MARK: Reads that may wait

    /// Answers a call that reads, or parks it.
    func answer(
        _ call: ReadCall, _ transaction: StoreTransaction, _ outputs: inout [Output]
    ) {
        begun = call.begun
        defer { begun = nil }
        let ticket: LockTicket?
        do throws(RPCStatus) {
            ticket = try lockReading(call.request, call.context.database, again: call.ticket)
        } catch {
            if let begun { endTransaction(begun, .rolledBack) }
            outputs.append(Output(id: call.id, event: .ended(error)))
            return
        }
        if let ticket {
            parked.park(
                ticket,
                ParkedCommand(
                    work: .call(call.id, call.request, call.context),
                    deadline: call.deadline ?? environment.executor.uptime
                        + configuration.lockTimeout, begun: begun))
            return
        }
        answer(call.id, call.request, call.context, transaction, &outputs)
    }

    /// A call that reads, and what is known of it when it has waited.
    struct ReadCall {
        let id: CallID
        let request: Request
        let context: CallContext
        var ticket: LockTicket?
        var deadline: Duration?
        var begun: TransactionID?
    }

    /// Answers the reads that need not wait any more.
    func answerReady(_ transaction: StoreTransaction, _ outputs: inout [Output]) {
        let tickets = locks.takeReady(writes: false)
        for (index, ticket) in tickets.enumerated() {
            if index > 0, outputs.count >= Self.outputsPerTurn {
                for left in tickets[index...] { locks.putBack(left) }
                return
            }
            if let command = parked.take(ticket),
                case .call(let id, let request, let context) = command.work
            {
                let call = ReadCall(
                    id: id, request: request, context: context, ticket: ticket,
                    deadline: command.deadline, begun: command.begun)
                answer(call, transaction, &outputs)
            }
            if !parked.contains(ticket) { locks.cancel(ticket) }
        }
    }

    /// The store could not begin: reads that need not wait any more are told.
    func refuseReady(_ status: RPCStatus) {
        for ticket in locks.takeReady(writes: false) {
            locks.cancel(ticket)
            fail(ticket, status)
        }
    }

    // MARK: The end of a wait

    /// Ends a parked command without having performed it. Its ticket is no longer in the queues.
    func fail(_ ticket: LockTicket, _ status: RPCStatus) {
        guard let command = parked.take(ticket) else { return }
        fail(command, status)
    }

    func fail(_ command: ParkedCommand, _ status: RPCStatus) {
        if let begun = command.begun { endTransaction(begun, .rolledBack) }
        switch command.work {
        case .call(let id, _, _): lateOutputs.append(Output(id: id, event: .ended(status)))
        case .item(let id, let index, _, _):
            let result = BatchWriteResult(status: status, result: .init(updateTime: nil))
            settle(id, index, result, Usage())
        case .streamBatch(let id, _):
            drop(id)
            if writeStreams.removeValue(forKey: id) != nil {
                lateOutputs.append(Output(id: id, event: .ended(status)))
            }
        }
    }

    /// Notes what became of one write of a batch write; the last one's makes the answer.
    func settle(_ id: CallID, _ index: Int, _ result: BatchWriteResult, _ usage: Usage) {
        guard let batch = parked.settle(id, index, result, usage) else { return }
        lateOutputs.append(id, .batchWrite(batch.results.compactMap { $0 }))
        let ending = RPCStatus.ok.reporting(batch.usage, to: batch.context)
        lateOutputs.append(Output(id: id, event: .ended(ending)))
    }

    /// Forgets what of a call or a stream waits, and tells nobody.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    func drop(_ id: CallID) -> Bool {
        let waiting = parked.takeAll(id)
        for (ticket, command) in waiting {
            locks.cancel(ticket)
            if let begun = command.begun { endTransaction(begun, .rolledBack) }
        }
        return !waiting.isEmpty
    }

    /// A caller has gone away: what of its call waits is not performed.
    func cancelCall(_ id: CallID, _ status: RPCStatus) {
        if drop(id) { lateOutputs.append(Output(id: id, event: .ended(status))) }
    }

    /// Ends a transaction from outside: by its time, by its caller's absence.
    func endTransaction(_ id: TransactionID, _ ending: TransactionTable.Ending) {
        transactions.end(id, ending)
        releaseLocks(of: id)
    }

    /// Frees what a transaction that has ended has locked. What of it still waits is told so.
    @discardableResult
    func releaseLocks(of id: TransactionID) -> LockTable.Owner? {
        let owner = locks.end(id)
        for ticket in owner?.waiting.sorted() ?? [] { fail(ticket, TransactionTable.expired) }
        return owner
    }

    // MARK: Time

    /// When something becomes due by itself, by the executor's time.
    var nextDeadline: Duration? {
        let expiry = transactions.nextExpiry.map {
            environment.executor.uptime
                + max(.zero, $0.duration(since: now) + .microseconds(1))
        }
        return [parked.nextDeadline(), expiry, nextRefresh].compactMap { $0 }.min()
    }

    /// Ends the waits and the transactions whose time is over.
    func expire() {
        for ticket in parked.due(environment.executor.uptime) {
            // An earlier one may have taken it along.
            guard let command = parked.take(ticket) else { continue }
            locks.cancel(ticket)
            fail(command, TransactionTable.contention)
            if let id = command.transaction { endTransaction(id, .rolledBack) }
        }
        let expired = transactions.expire(now: now) { id in locks.isWaiting(id) }
        for id in expired { releaseLocks(of: id) }
    }
}
