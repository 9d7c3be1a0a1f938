import TidemarkModel

/// A command that waits for locks.
struct ParkedCommand {
    enum Work {
        case call(CallID, Request, CallContext)
        /// One write of a batch write, by its place in it.
        case item(CallID, Int, Mutation, CallContext)
        /// A batch of a write stream. Those that came after it are held.
        case streamBatch(CallID, WriteRequest)
    }

    let work: Work
    /// When it has waited long enough, by the executor's time.
    let deadline: Duration
    /// The transaction that it began and that its caller has not heard of yet.
    let begun: TransactionID?

    var callID: CallID {
        switch work {
        case .call(let id, _, _), .item(let id, _, _, _), .streamBatch(let id, _): id
        }
    }

    /// The transaction inside which it waits.
    var transaction: TransactionID? {
        if let begun { return begun }
        guard case .call(_, let request, _) = work else { return nil }
        if case .commit(let commit) = request { return commit.transaction }
        if case .transaction(let id)? = request.consistency { return id }
        return nil
    }
}

/// The commands that wait for locks, and those that wait behind them.
struct ParkedCommands {
    /// Messages that a write stream may send while a batch of it waits. Clients have ten under way.
    static let maxHeld = 100

    /// A batch write some of whose writes wait.
    struct PartialBatch {
        let context: CallContext
        /// Nil for those that wait.
        var results: [BatchWriteResult?]
        /// What was billed for it so far.
        var usage: Usage
    }

    /// What came on a write stream after a batch that waits.
    enum Held {
        case batch(WriteRequest)
        case finish
    }

    private var byTicket: [LockTicket: ParkedCommand] = [:]
    private var tickets: [CallID: Set<LockTicket>] = [:]
    /// Tickets with their deadlines. All wait equally long, so it is in the order of both; those that
    /// are gone are dropped when they come up.
    private var order: [(ticket: LockTicket, deadline: Duration)] = []
    private var batches: [CallID: PartialBatch] = [:]
    private var held: [CallID: [Held]] = [:]

    /// The calls and streams that something of waits.
    var calls: [CallID] { Array(tickets.keys) }

    func contains(_ ticket: LockTicket) -> Bool { byTicket[ticket] != nil }
    func isWaiting(_ id: CallID) -> Bool { tickets[id] != nil }

    mutating func park(_ ticket: LockTicket, _ command: ParkedCommand) {
        byTicket[ticket] = command
        tickets[command.callID, default: []].insert(ticket)
        // One that is parked again is still in it.
        if order.last.map({ $0.ticket < ticket }) ?? true {
            order.append((ticket, command.deadline))
        }
    }

    mutating func take(_ ticket: LockTicket) -> ParkedCommand? {
        guard let command = byTicket.removeValue(forKey: ticket) else { return nil }
        tickets[command.callID]?.remove(ticket)
        if tickets[command.callID]?.isEmpty == true { tickets[command.callID] = nil }
        return command
    }

    /// Forgets all of a call or stream.
    ///
    /// - Returns: The tickets it has waited with, and what waited, in order.
    mutating func takeAll(_ id: CallID) -> [(ticket: LockTicket, command: ParkedCommand)] {
        held[id] = nil
        batches[id] = nil
        return (tickets[id] ?? []).sorted().compactMap { ticket in
            take(ticket).map { (ticket, $0) }
        }
    }

    // MARK: Deadlines

    /// When the first of them has waited long enough.
    mutating func nextDeadline() -> Duration? {
        let gone = order.prefix { byTicket[$0.ticket] == nil }.count
        if gone > 0 { order.removeFirst(gone) }
        // The rest may be mostly gone too, when one has waited long and many short.
        if order.count > 2 * byTicket.count + 1_000 {
            order.removeAll { byTicket[$0.ticket] == nil }
        }
        return order.first?.deadline
    }

    /// Those that have waited long enough, in order.
    func due(_ now: Duration) -> [LockTicket] {
        order.prefix { $0.deadline <= now }.map(\.ticket).filter { byTicket[$0] != nil }
    }

    // MARK: Batch writes

    mutating func add(_ batch: PartialBatch, of id: CallID) { batches[id] = batch }

    /// Notes what became of one write.
    ///
    /// - Returns: The batch, when it was the last.
    mutating func settle(
        _ id: CallID, _ index: Int, _ result: BatchWriteResult, _ usage: Usage
    ) -> PartialBatch? {
        guard var batch = batches.removeValue(forKey: id) else { return nil }
        batch.results[index] = result
        batch.usage += usage
        if batch.results.allSatisfy({ $0 != nil }) { return batch }
        batches[id] = batch
        return nil
    }

    // MARK: Write streams

    /// Keeps a message for after the batch that waits.
    ///
    /// - Returns: False when too many are kept already.
    mutating func hold(_ message: Held, of id: CallID) -> Bool {
        if held[id, default: []].count >= Self.maxHeld { return false }
        held[id, default: []].append(message)
        return true
    }

    mutating func takeHeld(_ id: CallID) -> Held? {
        guard held[id] != nil else { return nil }
        let first = held[id]?.removeFirst()
        if held[id]?.isEmpty == true { held[id] = nil }
        return first
    }

    /// Whether messages of the stream must wait for one before them.
    func isHolding(_ id: CallID) -> Bool { tickets[id] != nil || held[id] != nil }
}
