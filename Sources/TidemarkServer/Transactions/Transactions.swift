import TidemarkModel

/// The open transactions, their locks, and the commands that wait for locks.
///
/// Three pure machines decide: ``TransactionTable``, ``LockTable`` and ``ParkedCommands``. Only
/// this class accesses all three: it informs the others when one reports an end.
final class Transactions {
    private let clocks: DatabaseClocks
    private let streams: WriteStreams
    private let executor: any ServerExecutor
    private let randomBits: @Sendable () -> UInt64
    private let lockTimeout: Duration

    private var table = TransactionTable()
    private var locks = LockTable()
    private var parked = ParkedCommands()
    /// Results of commands that were parked, delivered at the end of the phase.
    private var lateOutputs: [Output] = []

    init(
        _ clocks: DatabaseClocks, streams: WriteStreams, environment: ServerEnvironment,
        lockTimeout: Duration
    ) {
        self.clocks = clocks
        self.streams = streams
        executor = environment.executor
        randomBits = environment.randomBits
        self.lockTimeout = lockTimeout
    }

    // MARK: Open transactions

    func begin(
        _ options: TransactionOptions, _ context: CallContext
    ) throws(RPCStatus) -> TransactionID {
        let database = context.database
        var snapshot = clocks.takeReadTime(database)
        if case .readOnly(let time?) = options {
            try clocks.check(readTime: time, database)
            snapshot = time
        }
        var id: TransactionID = []
        for _ in 0..<2 {
            let bits = randomBits()
            for shift in 0..<8 { id.append(UInt8(truncatingIfNeeded: bits >> (8 * shift))) }
        }
        try table.begin(
            options, id: id, database: database, caller: CallerMark(context), now: clocks.now,
            snapshot: snapshot)
        return id
    }

    /// Returns the open transaction of an id, which must be its caller's; a use keeps it alive.
    func use(_ id: TransactionID, _ context: CallContext) throws(RPCStatus) -> TransactionTable.Open
    {
        try table.use(
            id, database: context.database, caller: CallerMark(context), now: clocks.now)
    }

    func record(_ id: TransactionID, _ path: DocumentPath, version: Timestamp?) {
        table.record(id, path, version: version)
    }

    func record(_ id: TransactionID, _ query: Query, readTime: Timestamp) {
        table.record(id, query, readTime: readTime)
    }

    /// Returns true if another read would exceed the limit of an optimistic transaction.
    func isFull(_ id: TransactionID) -> Bool { table.isFull(id) }

    func rollback(_ id: TransactionID, _ context: CallContext) throws(RPCStatus) {
        try table.rollback(
            id, database: context.database, caller: CallerMark(context), now: clocks.now)
        releaseLocks(of: id)
    }

    /// Ends a transaction from outside, because its time has passed or its caller has left.
    func end(_ id: TransactionID, _ ending: TransactionTable.Ending) {
        table.end(id, ending)
        releaseLocks(of: id)
    }

    func endAll(in database: DatabaseID) {
        for id in table.ids(in: database) { end(id, .rolledBack) }
    }

    /// Records the endings of transactions whose locks are already free.
    func note(_ endings: [TransactionID: TransactionTable.Ending]) {
        for (id, ending) in endings { table.end(id, ending) }
    }

    // MARK: Locks

    /// Returns true if there are locks or waiters in the database. Otherwise every write is
    /// granted.
    func concerns(_ database: DatabaseID) -> Bool { locks.concerns(database) }

    /// - Returns: The ticket to wait with; nil if the access is granted.
    /// - Throws: `aborted` for the victim of a deadlock, and if too many commands wait already; the
    ///   transaction has then ended.
    func lock(
        _ access: LockAccess, database: DatabaseID, claimant: LockClaimant,
        again ticket: LockTicket?
    ) throws(RPCStatus) -> LockTicket? {
        let decision = locks.request(access, in: database, by: claimant, again: ticket)
        for victim in locks.takeVictims() {
            table.end(victim.transaction, .rolledBack)
            for ticket in victim.tickets { fail(ticket, TransactionTable.deadlock) }
        }
        switch decision {
        case .granted: return nil
        case .waits(let ticket): return ticket
        case .deadlock: throw TransactionTable.deadlock
        case .full:
            if case .transaction(let id, _) = claimant { end(id, .rolledBack) }
            throw TransactionTable.contention
        }
    }

    /// Takes the shared locks of a read in an open transaction.
    ///
    /// - Returns: The ticket to wait with; nil if the read may continue.
    func lock(
        _ reading: @autoclosure () -> LockedReading?, of id: TransactionID,
        _ context: CallContext, again ticket: LockTicket?
    ) throws(RPCStatus) -> LockTicket? {
        let open = try use(id, context)
        guard case .pessimistic = open.mode, let reading = reading() else { return nil }
        if locks.count(of: id) + reading.documents.count >= TransactionTable.maxReads {
            throw TransactionTable.tooManyReads
        }
        return try lock(
            .read(reading), database: context.database, claimant: .transaction(id, age: open.age),
            again: ticket)
    }

    /// Frees the locks of a transaction that has ended. Its waiting commands fail.
    @discardableResult
    func releaseLocks(of id: TransactionID) -> LockTable.Owner? {
        let owner = locks.end(id)
        for ticket in owner?.waiting.sorted() ?? [] { fail(ticket, TransactionTable.expired) }
        return owner
    }

    /// Returns the locks to transactions whose ends were undone.
    func restore(_ released: [(id: TransactionID, owner: LockTable.Owner)]) {
        for (id, owner) in released { locks.restore(id, owner) }
    }

    // MARK: Waiting

    /// Keeps a command until its locks can be granted.
    ///
    /// - Parameters:
    ///   - deadline: The deadline of a command that has waited before; nil for the usual time.
    ///   - begun: The transaction that the command began and whose id the caller has not received
    ///     yet.
    func park(
        _ ticket: LockTicket, _ work: ParkedCommand.Work, deadline: Duration?,
        begun: TransactionID? = nil
    ) {
        parked.park(
            ticket,
            ParkedCommand(
                work: work, deadline: deadline ?? executor.uptime + lockTimeout, begun: begun))
    }

    func isWaiting(_ id: CallID) -> Bool { parked.isWaiting(id) }

    /// Returns true if messages of a write stream must wait for an earlier message.
    func isHolding(_ id: CallID) -> Bool { parked.isHolding(id) }

    /// Keeps a message of a write stream behind a waiting batch.
    ///
    /// - Returns: False if too many messages are kept already.
    func hold(_ message: ParkedCommands.Held, of id: CallID) -> Bool {
        parked.hold(message, of: id)
    }

    func takeHeld(_ id: CallID) -> ParkedCommands.Held? { parked.takeHeld(id) }

    /// Keeps a batch write with waiting writes.
    func add(_ batch: ParkedCommands.PartialBatch, of id: CallID) { parked.add(batch, of: id) }

    // MARK: Continuing

    var isAnyReady: Bool { hasReady(writes: true) || hasReady(writes: false) }

    func hasReady(writes: Bool) -> Bool { locks.hasReady(writes: writes) }

    /// Takes the tickets whose requests may succeed, in order.
    func takeReady(writes: Bool) -> [LockTicket] { locks.takeReady(writes: writes) }

    func putBack(_ tickets: some Sequence<LockTicket>) {
        for ticket in tickets { locks.putBack(ticket) }
    }

    /// Takes the command of a ticket, which is then no longer parked; nil if the command was
    /// removed.
    func take(_ ticket: LockTicket) -> ParkedCommand? { parked.take(ticket) }

    /// Returns true if the command was parked again with its ticket.
    func isParked(_ ticket: LockTicket) -> Bool { parked.contains(ticket) }

    /// Ends a ticket, unless its command was parked again.
    func finish(_ ticket: LockTicket) {
        if !parked.contains(ticket) { locks.cancel(ticket) }
    }

    // MARK: The end of a wait

    /// Fails the reads that need not wait any longer, because the store could not begin.
    func failReadyReads(_ status: RPCStatus) {
        for ticket in locks.takeReady(writes: false) {
            locks.cancel(ticket)
            fail(ticket, status)
        }
    }

    /// Ends a parked command without performing it. Its ticket is no longer in the queues.
    private func fail(_ ticket: LockTicket, _ status: RPCStatus) {
        guard let command = parked.take(ticket) else { return }
        fail(command, status)
    }

    func fail(_ command: ParkedCommand, _ status: RPCStatus) {
        if let begun = command.begun { end(begun, .rolledBack) }
        switch command.work {
        case .call(let id, _, _): lateOutputs.append(Output(id: id, event: .ended(status)))
        case .item(let id, let index, _, _):
            let result = BatchWriteResult(status: status, result: .init(updateTime: nil))
            settle(id, index: index, result: result, usage: Usage())
        case .streamBatch(let id, _):
            drop(id)
            if streams.remove(id) { lateOutputs.append(Output(id: id, event: .ended(status))) }
        }
    }

    /// Records the result of a write of a batch write; the last result produces the answer.
    func settle(_ id: CallID, index: Int, result: BatchWriteResult, usage: Usage) {
        guard let batch = parked.settle(id, index: index, result: result, usage: usage) else {
            return
        }
        lateOutputs.append(id, .batchWrite(batch.results.compactMap { $0 }))
        let ending = RPCStatus.ok.reporting(batch.usage, to: batch.context)
        lateOutputs.append(Output(id: id, event: .ended(ending)))
    }

    /// Forgets the waiting commands of a call or a stream, without an output.
    ///
    /// - Returns: True if there were any.
    @discardableResult
    func drop(_ id: CallID) -> Bool {
        let waiting = parked.takeAll(id)
        for (ticket, command) in waiting {
            locks.cancel(ticket)
            if let begun = command.begun { end(begun, .rolledBack) }
        }
        return !waiting.isEmpty
    }

    /// Ends the waiting commands of a call whose caller has left; they are not performed.
    func cancel(_ id: CallID, _ status: RPCStatus) {
        if drop(id) { lateOutputs.append(Output(id: id, event: .ended(status))) }
    }

    /// Takes the outputs of parked commands.
    func takeOutputs() -> [Output] {
        defer { lateOutputs = [] }
        return lateOutputs
    }

    // MARK: Time

    /// The earliest time at which work becomes due without a command, by the executor's time.
    var nextDeadline: Duration? {
        let expiry = table.nextExpiry.map {
            executor.uptime + max(.zero, $0.duration(since: clocks.now) + .microseconds(1))
        }
        return [parked.nextDeadline(), expiry].compactMap { $0 }.min()
    }

    /// Ends the waits and the transactions whose time has passed.
    func expire() {
        for ticket in parked.due(executor.uptime) {
            // An earlier command may have removed it.
            guard let command = parked.take(ticket) else { continue }
            locks.cancel(ticket)
            fail(command, TransactionTable.contention)
            if let id = command.transaction { end(id, .rolledBack) }
        }
        let expired = table.expire(now: clocks.now) { id in locks.isWaiting(id) }
        for id in expired { releaseLocks(of: id) }
    }

    /// Forgets all transactions.
    ///
    /// - Returns: The calls and streams with waiting commands.
    func forgetAll() -> [CallID] {
        defer {
            table = TransactionTable()
            parked = ParkedCommands()
            locks = LockTable()
        }
        return parked.calls
    }
}
