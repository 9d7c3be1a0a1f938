import TidemarkModel

/// The transactions that are open, their locks, and the commands that wait for these.
///
/// Three pure machines decide: ``TransactionTable``, ``LockTable`` and ``ParkedCommands``. This is the
/// one place that sees all three: when one says that something has ended, the others hear of it here.
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
        _ clocks: DatabaseClocks, _ streams: WriteStreams, _ environment: ServerEnvironment,
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
        _ options: TransactionOptions, _ database: DatabaseID
    ) throws(RPCStatus) -> TransactionID {
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
        try table.begin(options, id: id, database: database, now: clocks.now, snapshot: snapshot)
        return id
    }

    /// The open transaction of that id; a use keeps it alive.
    func use(_ id: TransactionID, _ database: DatabaseID) throws(RPCStatus) -> TransactionTable.Open
    {
        try table.use(id, database: database, now: clocks.now)
    }

    func record(_ id: TransactionID, _ path: DocumentPath, version: Timestamp?) {
        table.record(id, path, version: version)
    }

    func record(_ id: TransactionID, _ query: Query, readTime: Timestamp) {
        table.record(id, query, readTime: readTime)
    }

    /// Whether one more read is too many for an optimistic transaction.
    func isFull(_ id: TransactionID) -> Bool { table.isFull(id) }

    func rollback(_ id: TransactionID, _ database: DatabaseID) throws(RPCStatus) {
        try table.rollback(id, database: database, now: clocks.now)
        releaseLocks(of: id)
    }

    /// Ends a transaction from outside: by its time, by its caller's absence.
    func end(_ id: TransactionID, _ ending: TransactionTable.Ending) {
        table.end(id, ending)
        releaseLocks(of: id)
    }

    func endAll(in database: DatabaseID) {
        for id in table.ids(in: database) { end(id, .rolledBack) }
    }

    /// Notes how transactions have ended whose locks are free already.
    func note(_ endings: [TransactionID: TransactionTable.Ending]) {
        for (id, ending) in endings { table.end(id, ending) }
    }

    // MARK: Locks

    /// Whether anything is locked or waited for in the database: if not, every write is granted.
    func concerns(_ database: DatabaseID) -> Bool { locks.concerns(database) }

    /// - Returns: Nil when it is granted, else the ticket to wait with.
    /// - Throws: `aborted` for the victim of a deadlock, and where too many wait already; the
    ///   transaction is over then.
    func lock(
        _ access: LockAccess, _ database: DatabaseID, _ claimant: LockClaimant,
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

    /// Takes the shared locks of a read inside an open transaction.
    ///
    /// - Returns: The ticket to wait with; nil when the read may go on.
    func lock(
        _ reading: @autoclosure () -> LockedReading?, of id: TransactionID,
        _ database: DatabaseID, again ticket: LockTicket?
    ) throws(RPCStatus) -> LockTicket? {
        let open = try use(id, database)
        guard case .pessimistic = open.mode, let reading = reading() else { return nil }
        if locks.count(of: id) + reading.documents.count >= TransactionTable.maxReads {
            throw TransactionTable.tooManyReads
        }
        return try lock(.read(reading), database, .transaction(id, age: open.age), again: ticket)
    }

    /// Frees what a transaction that has ended has locked. What of it still waits is told so.
    @discardableResult
    func releaseLocks(of id: TransactionID) -> LockTable.Owner? {
        let owner = locks.end(id)
        for ticket in owner?.waiting.sorted() ?? [] { fail(ticket, TransactionTable.expired) }
        return owner
    }

    /// Gives transactions back what they had locked: their ends have not happened after all.
    func restore(_ released: [(id: TransactionID, owner: LockTable.Owner)]) {
        for (id, owner) in released { locks.restore(id, owner) }
    }

    // MARK: Waiting

    /// Keeps a command until its locks may be granted.
    ///
    /// - Parameters:
    ///   - deadline: Of one that has waited before; nil for the time that every wait may take.
    ///   - begun: The transaction that it began and that its caller has not heard of yet.
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

    /// Whether messages of a write stream must wait for one before them.
    func isHolding(_ id: CallID) -> Bool { parked.isHolding(id) }

    /// Keeps a message of a write stream behind a batch that waits.
    ///
    /// - Returns: False when too many are kept already.
    func hold(_ message: ParkedCommands.Held, of id: CallID) -> Bool {
        parked.hold(message, of: id)
    }

    func takeHeld(_ id: CallID) -> ParkedCommands.Held? { parked.takeHeld(id) }

    /// Keeps a batch write some of whose writes wait.
    func add(_ batch: ParkedCommands.PartialBatch, of id: CallID) { parked.add(batch, of: id) }

    // MARK: Going on

    var isAnyReady: Bool { hasReady(writes: true) || hasReady(writes: false) }

    func hasReady(writes: Bool) -> Bool { locks.hasReady(writes: writes) }

    /// The waits that are worth another try, in the order of their tickets.
    func takeReady(writes: Bool) -> [LockTicket] { locks.takeReady(writes: writes) }

    func putBack(_ tickets: some Sequence<LockTicket>) {
        for ticket in tickets { locks.putBack(ticket) }
    }

    /// The command of a ticket, which is no longer parked; nil where it has gone away.
    func take(_ ticket: LockTicket) -> ParkedCommand? { parked.take(ticket) }

    /// Whether the command was parked again with its ticket.
    func isParked(_ ticket: LockTicket) -> Bool { parked.contains(ticket) }

    /// Ends a ticket, unless its command was parked again.
    func finish(_ ticket: LockTicket) {
        if !parked.contains(ticket) { locks.cancel(ticket) }
    }

    // MARK: The end of a wait

    /// The store could not begin: reads that need not wait any more are told.
    func failReadyReads(_ status: RPCStatus) {
        for ticket in locks.takeReady(writes: false) {
            locks.cancel(ticket)
            fail(ticket, status)
        }
    }

    /// Ends a parked command without having performed it. Its ticket is no longer in the queues.
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
            settle(id, index, result, Usage())
        case .streamBatch(let id, _):
            drop(id)
            if streams.remove(id) { lateOutputs.append(Output(id: id, event: .ended(status))) }
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
            if let begun = command.begun { end(begun, .rolledBack) }
        }
        return !waiting.isEmpty
    }

    /// A caller has gone away: what of its call waits is not performed.
    func cancel(_ id: CallID, _ status: RPCStatus) {
        if drop(id) { lateOutputs.append(Output(id: id, event: .ended(status))) }
    }

    /// What there is to say of commands that were parked.
    func takeOutputs() -> [Output] {
        defer { lateOutputs = [] }
        return lateOutputs
    }

    // MARK: Time

    /// When something becomes due by itself, by the executor's time.
    var nextDeadline: Duration? {
        let expiry = table.nextExpiry.map {
            executor.uptime + max(.zero, $0.duration(since: clocks.now) + .microseconds(1))
        }
        return [parked.nextDeadline(), expiry].compactMap { $0 }.min()
    }

    /// Ends the waits and the transactions whose time is over.
    func expire() {
        for ticket in parked.due(executor.uptime) {
            // An earlier one may have taken it along.
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
    /// - Returns: The calls and streams something of which has waited.
    func forgetAll() -> [CallID] {
        defer {
            table = TransactionTable()
            parked = ParkedCommands()
            locks = LockTable()
        }
        return parked.calls
    }
}
