import TidemarkModel

extension LockTable {
    // MARK: Edges from a waiter

    /// Returns the other transactions that have locked anything that a write touches. Reads share
    /// locks.
    func hardEdges(
        _ access: LockAccess, database: DatabaseID, agent: Agent
    ) -> Set<TransactionID> {
        guard case .write(let changes) = access, let index = indexes[database] else { return [] }
        var result = index.holders(touchedBy: changes)
        if case .transaction(let id) = agent { result.remove(id) }
        return result
    }

    /// Returns the nearest earlier waiters for the same documents, except waiters that wait for
    /// `agent`.
    func softEdges(
        _ access: LockAccess, database: DatabaseID, agent: Agent, before ticket: LockTicket
    ) -> Set<LockTicket> {
        guard let index = indexes[database] else { return [] }
        var result: Set<LockTicket> = []
        for path in access.documents {
            let nearest = index.queues[path]?.last {
                $0.ticket < ticket && ($0.isWrite || access.isWrite) && mayFollow($0.ticket, agent)
            }
            if let nearest { result.insert(nearest.ticket) }
        }
        let nearest: LockTicket?
        switch access {
        case .read(let reading):
            nearest = reading.query.flatMap { query in
                index.writes.last {
                    $0 < ticket && isTouched(query, by: $0) && mayFollow($0, agent)
                }
            }
        case .write(let changes):
            nearest = index.queryReads.last {
                guard $0 < ticket, case .read(let reading)? = waiters[$0]?.access,
                    let query = reading.query
                else { return false }
                return query.isTouched(by: changes) && mayFollow($0, agent)
            }
        }
        if let nearest { result.insert(nearest) }
        return result
    }

    /// Returns true if waiting for that ticket causes no circle.
    private func mayFollow(_ ticket: LockTicket, _ agent: Agent) -> Bool {
        guard let other = waiters[ticket]?.agent, other != agent else { return false }
        return !isWaitedFor(agent) || path(from: other, to: agent, hardOnly: false) == nil
    }

    private func isWaitedFor(_ agent: Agent) -> Bool {
        if case .transaction(let id) = agent, owners[id]?.blocked.isEmpty == false { return true }
        return tickets(of: agent).contains { waiters[$0]?.followers.isEmpty == false }
    }

    // MARK: Circles

    private struct Edge {
        /// The waiter at the start of the edge, and its owner.
        let ticket: LockTicket
        let from: Agent
        let isSoft: Bool
    }

    /// Resolves every circle through `agent`, after edges from it or to it were added.
    mutating func resolve(_ agent: Agent) {
        guard isWaitedFor(agent) else { return }
        while let circle = path(from: agent, to: agent, hardOnly: true) {
            let ids = circle.compactMap { edge in
                if case .transaction(let id) = edge.from { id } else { nil }
            }
            guard let victim = ids.max(by: { age($0) < age($1) }) else { break }
            let tickets = owners[victim]?.waiting.sorted() ?? []
            end(victim)
            victims.append(Ended(transaction: victim, tickets: tickets))
            if agent == .transaction(victim) { return }
        }
        while let circle = path(from: agent, to: agent, hardOnly: false) {
            guard let latest = circle.filter(\.isSoft).map(\.ticket).max(),
                let waiter = waiters[latest]
            else { return assertionFailure("a deadlock was left") }
            let soft = softEdges(
                waiter.access, database: waiter.database, agent: waiter.agent, before: latest)
            setSoft(soft, of: latest)
        }
    }

    private func age(_ id: TransactionID) -> LockAge {
        owners[id]?.age ?? LockAge(first: 0, own: 0)
    }

    /// Returns a shortest path of at least one edge from a waiter to a party that is waited for.
    private func path(from start: Agent, to goal: Agent, hardOnly: Bool) -> [Edge]? {
        var reached: [Agent: Edge] = [:]
        var queue = [start]
        var next = 0
        while next < queue.count {
            let agent = queue[next]
            next += 1
            for (edge, target) in edges(from: agent, hardOnly: hardOnly) {
                if target == goal { return way(to: edge, from: start, reached) }
                if target == start || reached[target] != nil { continue }
                reached[target] = edge
                queue.append(target)
            }
        }
        return nil
    }

    private func way(
        to last: Edge, from start: Agent, _ reached: [Agent: Edge]
    ) -> [Edge] {
        var result = [last]
        while let edge = result.last, edge.from != start, let before = reached[edge.from] {
            result.append(before)
        }
        return result
    }

    /// Returns the edges, in the same order on every run.
    private func edges(from agent: Agent, hardOnly: Bool) -> [(Edge, Agent)] {
        var result: [(Edge, Agent)] = []
        for ticket in tickets(of: agent) {
            guard let waiter = waiters[ticket] else { continue }
            for id in waiter.hard.sorted(by: { age($0) < age($1) }) {
                result.append((Edge(ticket: ticket, from: agent, isSoft: false), .transaction(id)))
            }
            if hardOnly { continue }
            for other in waiter.soft.sorted() {
                guard let target = waiters[other]?.agent else { continue }
                result.append((Edge(ticket: ticket, from: agent, isSoft: true), target))
            }
        }
        return result
    }

    private func tickets(of agent: Agent) -> [LockTicket] {
        switch agent {
        case .single(let ticket): [ticket]
        case .transaction(let id): owners[id]?.waiting.sorted() ?? []
        }
    }
}
