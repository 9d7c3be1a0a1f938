import TidemarkModel

/// A command that waits for locks.
struct ParkedCommand {
    enum Work {
        case call(CallID, Request, CallContext)
        /// A write of a batch write, by its index.
        case item(CallID, Int, Mutation, CallContext)
        /// A batch of a write stream. Later batches are held.
        case streamBatch(CallID, WriteRequest)
    }

    let work: Work
    /// The end of the wait, by the executor's time.
    let deadline: Duration
    /// The transaction that the command began and whose id the caller has not received yet.
    let begun: TransactionID?

    var callID: CallID {
        switch work {
        case .call(let id, _, _), .item(let id, _, _, _), .streamBatch(let id, _): id
        }
    }

    /// The transaction in which the command waits.
    var transaction: TransactionID? {
        if let begun { return begun }
        guard case .call(_, let request, _) = work else { return nil }
        if case .commit(let commit) = request { return commit.transaction }
        if case .transaction(let id)? = request.consistency { return id }
        return nil
    }
}

/// The commands that wait for locks, and the messages behind them.
struct ParkedCommands {
    /// The maximum number of messages that a write stream may send while a batch waits. Clients
    /// have ten under way.
    static let maxHeld = 100

    /// A batch write with waiting writes.
    struct PartialBatch {
        let context: CallContext
        /// The results; nil for waiting writes.
        var results: [BatchWriteResult?]
        /// The bill so far.
        var usage: Usage
    }

    /// A message of a write stream behind a waiting batch.
    enum Held {
        case batch(WriteRequest)
        case finish
    }

    private var byTicket: [LockTicket: ParkedCommand] = [:]
    private var tickets: [CallID: Set<LockTicket>] = [:]
    /// The tickets with their deadlines. All waits are equally long, so the list is in the order of
    /// both; removed tickets are dropped when they reach the front.
    private var order: [(ticket: LockTicket, deadline: Duration)] = []
    private var batches: [CallID: PartialBatch] = [:]
    private var held: [CallID: [Held]] = [:]

    /// The calls and streams with waiting commands.
    var calls: [CallID] { Array(tickets.keys) }

    func contains(_ ticket: LockTicket) -> Bool { byTicket[ticket] != nil }
    func isWaiting(_ id: CallID) -> Bool { tickets[id] != nil }

    mutating func park(_ ticket: LockTicket, _ command: ParkedCommand) {
        byTicket[ticket] = command
        tickets[command.callID, default: []].insert(ticket)
        // A ticket that is parked again is already in the list.
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

    /// Forgets everything of a call or stream.
    ///
    /// - Returns: The tickets and their commands, in order.
    mutating func takeAll(_ id: CallID) -> [(ticket: LockTicket, command: ParkedCommand)] {
        held[id] = nil
        batches[id] = nil
        return (tickets[id] ?? []).sorted().compactMap { ticket in
            take(ticket).map { (ticket, $0) }
        }
    }

    // MARK: Deadlines

    /// Returns the earliest deadline.
    mutating func nextDeadline() -> Duration? {
        let gone = order.prefix { byTicket[$0.ticket] == nil }.count
        if gone > 0 { order.removeFirst(gone) }
        // Most of the other tickets may be removed too, if one has waited long and many have waited
        // briefly.
        if order.count > 2 * byTicket.count + 1_000 {
            order.removeAll { byTicket[$0.ticket] == nil }
        }
        return order.first?.deadline
    }

    /// Returns the tickets whose deadline has passed, in order.
    func due(_ now: Duration) -> [LockTicket] {
        order.prefix { $0.deadline <= now }.map(\.ticket).filter { byTicket[$0] != nil }
    }

    // MARK: Batch writes

    mutating func add(_ batch: PartialBatch, of id: CallID) { batches[id] = batch }

    /// Records the result of a write.
    ///
    /// - Returns: The batch, if this was its last result.
    mutating func settle(
        _ id: CallID, index: Int, result: BatchWriteResult, usage: Usage
    ) -> PartialBatch? {
        guard var batch = batches.removeValue(forKey: id) else { return nil }
        batch.results[index] = result
        batch.usage += usage
        if batch.results.allSatisfy({ $0 != nil }) { return batch }
        batches[id] = batch
        return nil
    }

    // MARK: Write streams

    /// Keeps a message behind a waiting batch.
    ///
    /// - Returns: False if too many messages are kept already.
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

    /// Returns true if messages of the stream must wait for an earlier message.
    func isHolding(_ id: CallID) -> Bool { tickets[id] != nil || held[id] != nil }
}
