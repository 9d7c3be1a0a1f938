import TidemarkModel
import TidemarkStore

/// Why a commit is not performed now: it has a place in the queues.
struct LockWait: Error {
    let ticket: LockTicket
}

extension WriteStage {
    /// Keeps a command until its locks may be granted.
    func park(_ wait: LockWait, _ work: ParkedCommand.Work) {
        let deadline =
            retrying?.command.deadline
            ?? core.environment.executor.uptime + core.configuration.lockTimeout
        core.parked.park(
            wait.ticket, ParkedCommand(work: work, deadline: deadline, begun: nil))
    }

    /// Keeps a message of a write stream behind a batch that waits.
    ///
    /// - Returns: False when nothing of the stream waits: then it is to be performed.
    func hold(_ message: ParkedCommands.Held, of id: CallID) -> Bool {
        guard writeStreams[id] != nil, core.parked.isHolding(id) else { return false }
        if !core.parked.hold(message, of: id) {
            endWriteStream(
                id,
                RPCStatus(.resourceExhausted, "The stream has too many batches under way."))
        }
        return true
    }

    /// Performs the writes that need not wait any more, and those that need not wait after them.
    func performReady() throws {
        while true {
            let tickets = core.locks.takeReady(writes: true)
            if tickets.isEmpty { return }
            for (index, ticket) in tickets.enumerated() {
                do {
                    try perform(ticket)
                } catch {
                    for left in tickets[(index + 1)...] { core.locks.putBack(left) }
                    throw error
                }
            }
        }
    }

    private func perform(_ ticket: LockTicket) throws {
        defer { if !core.parked.contains(ticket) { core.locks.cancel(ticket) } }
        guard let command = core.parked.take(ticket) else { return }
        retried.append(command)
        retrying = (ticket, command)
        defer { retrying = nil }
        switch command.work {
        case .call(let id, let request, let context): try perform(id, request, context)
        case .item(let id, let index, let mutation, let context):
            method = .batchWrite
            let firstBill = bills.count
            do {
                let result = try write(mutation, context)
                settled.append((id, index, result, usage(since: firstBill)))
            } catch let wait as LockWait {
                park(wait, command.work)
            }
        case .streamBatch(let id, let request): try perform(id, request)
        }
        if core.parked.contains(ticket) {
            retried.removeLast()
        } else if case .streamBatch(let id, _) = command.work {
            retrying = nil
            try performHeld(id)
        }
    }

    /// What came on a write stream after a batch that has waited, until one has to wait again.
    private func performHeld(_ id: CallID) throws {
        while !core.parked.isWaiting(id), let message = core.parked.takeHeld(id) {
            switch message {
            case .batch(let request): try perform(id, request)
            case .finish: endWriteStream(id, .ok)
            }
        }
    }
}
