import TidemarkModel

/// Decides which commands may read and write, now or after others: shared locks of transactions,
/// the queues of waiting commands, and their deadlocks. A pure machine, without knowledge of a
/// store, a clock or calls.
///
/// A transaction's read takes shared locks until the transaction ends. A write takes none, because
/// it is performed as soon as it is granted. A write is granted if no other transaction has locked
/// anything that it touches, and no earlier command waits for the same. A read waits only behind an
/// earlier waiting write.
///
/// Two kinds of edges lead from a waiter to the parties that it waits for. A *hard* edge leads to a
/// transaction that has locked something that the waiter touches; a *soft* edge leads to an earlier
/// waiter, only for fairness. A circle of hard edges is a deadlock, and its youngest transaction is
/// the victim. A circle with a soft edge is no deadlock: the waiter passes the earlier waiter,
/// which waits for it through others. So there is never a circle between two calls.
struct LockTable {
    /// The maximum number of waiters in all databases. A further waiter is refused:
    /// ``Decision/full``.
    static let capacity = 10_000

    enum Decision: Equatable {
        case granted
        /// The command must wait. The ticket becomes ready when another request may succeed,
        /// possibly immediately.
        case waits(LockTicket)
        /// The requesting transaction is the victim of a deadlock, and has ended.
        case deadlock
        /// Too many commands wait already.
        case full
    }

    /// A transaction that has ended, with its waiting tickets.
    struct Ended: Equatable {
        let transaction: TransactionID
        let tickets: [LockTicket]
    }

    /// A transaction that has locks or waits for locks.
    struct Owner {
        let database: DatabaseID
        let age: LockAge
        var documents: Set<DocumentPath> = []
        var queries: Set<LockedQuery> = []
        /// The tickets that wait for the end of the transaction.
        var blocked: Set<LockTicket> = []
        var waiting: Set<LockTicket> = []
    }

    /// A party that waits and is waited for.
    enum Agent: Hashable {
        case transaction(TransactionID)
        /// A plain write.
        case single(LockTicket)
    }

    struct Waiter {
        let database: DatabaseID
        let agent: Agent
        let access: LockAccess
        var hard: Set<TransactionID>
        /// The nearest earlier waiter in each queue. When that waiter has left, this waiter
        /// requests again, and finds the next earlier waiter.
        var soft: Set<LockTicket>
        /// The waiters with a soft edge to this waiter.
        var followers: Set<LockTicket> = []
    }

    var owners: [TransactionID: Owner] = [:]
    var waiters: [LockTicket: Waiter] = [:]
    var indexes: [DatabaseID: LockIndex] = [:]
    private var ready: Set<LockTicket> = []
    var victims: [Ended] = []
    private var lastTicket: LockTicket = 0

    // MARK: Requests

    /// Returns true if there are locks or waiters in the database. Otherwise every write is
    /// granted.
    func concerns(_ database: DatabaseID) -> Bool { indexes[database] != nil }

    /// Returns the number of documents and queries that the transaction has locked.
    func count(of id: TransactionID) -> Int {
        owners[id].map { $0.documents.count + $0.queries.count } ?? 0
    }

    func isWaiting(_ id: TransactionID) -> Bool { owners[id]?.waiting.isEmpty == false }

    /// Requests access. A granted read has its locks; a granted write must be performed before the
    /// next request.
    ///
    /// - Parameter ticket: The ticket of an earlier request for the same access, which this request
    ///   replaces.
    mutating func request(
        _ access: LockAccess, in database: DatabaseID, by claimant: LockClaimant,
        again ticket: LockTicket? = nil
    ) -> Decision {
        let followers = ticket.flatMap { detach($0) } ?? []
        let own = ticket ?? lastTicket + 1
        let agent = agent(of: claimant, own)
        let hard = hardEdges(access, database: database, agent: agent)
        let soft = softEdges(access, database: database, agent: agent, before: own)
        if hard.isEmpty, soft.isEmpty {
            for follower in followers { dropSoft(own, of: follower) }
            if case .read(let reading) = access {
                acquire(reading, database: database, claimant: claimant)
            }
            return .granted
        }
        if ticket == nil {
            if waiters.count >= Self.capacity { return .full }
            lastTicket = own
        }
        attach(
            own,
            waiter: Waiter(
                database: database, agent: agent, access: access, hard: hard, soft: soft,
                followers: followers), claimant: claimant)
        resolve(agent)
        return waiters[own] == nil ? .deadlock : .waits(own)
    }

    /// Removes a ticket from the queues.
    mutating func cancel(_ ticket: LockTicket) {
        guard let followers = detach(ticket) else { return }
        for follower in followers { dropSoft(ticket, of: follower) }
    }

    /// Ends a transaction: its locks are free and its waiting tickets are forgotten.
    ///
    /// - Returns: The transaction's locks, for ``restore(_:_:)``.
    @discardableResult
    mutating func end(_ id: TransactionID) -> Owner? {
        guard let owner = owners[id] else { return nil }
        for ticket in owner.waiting.sorted() { cancel(ticket) }
        owners[id] = nil
        for path in owner.documents { indexes[owner.database]?.unlock(path, for: id) }
        for query in owner.queries { indexes[owner.database]?.unlock(query, for: id) }
        for ticket in owner.blocked {
            waiters[ticket]?.hard.remove(id)
            noteReady(ticket)
        }
        tidy(owner.database)
        return owner
    }

    /// Returns the locks to a transaction whose end was undone. No conflicting access may have been
    /// granted since.
    mutating func restore(_ id: TransactionID, _ owner: Owner) {
        let documents = LockedReading(documents: owner.documents.sorted())
        let claimant = LockClaimant.transaction(id, age: owner.age)
        acquire(documents, database: owner.database, claimant: claimant)
        for query in owner.queries {
            acquire(LockedReading(query: query), database: owner.database, claimant: claimant)
        }
    }

    // MARK: Ready waiters

    /// Returns true if another request of some waiter may succeed.
    func hasReady(writes: Bool) -> Bool {
        !ready.isEmpty && ready.contains { waiters[$0]?.access.isWrite == writes }
    }

    /// Takes the tickets whose requests may succeed, in order. Each must request again or be
    /// cancelled.
    mutating func takeReady(writes: Bool) -> [LockTicket] {
        let taken = ready.filter { waiters[$0]?.access.isWrite == writes }
        ready.subtract(taken)
        return taken.sorted()
    }

    /// Takes the transactions that were ended to resolve a deadlock since the last call.
    mutating func takeVictims() -> [Ended] {
        defer { victims = [] }
        return victims
    }

    /// Makes a taken ticket ready again if it was not used for another request.
    mutating func putBack(_ ticket: LockTicket) {
        if waiters[ticket] != nil { ready.insert(ticket) }
    }

    private mutating func noteReady(_ ticket: LockTicket) {
        guard let waiter = waiters[ticket] else { return }
        if waiter.hard.isEmpty, waiter.soft.isEmpty { ready.insert(ticket) }
    }

    // MARK: The graph's edges, added and removed

    private func agent(of claimant: LockClaimant, _ ticket: LockTicket) -> Agent {
        switch claimant {
        case .transaction(let id, _): .transaction(id)
        case .plain: .single(ticket)
        }
    }

    private mutating func attach(
        _ ticket: LockTicket, waiter: Waiter, claimant: LockClaimant
    ) {
        if case .transaction(let id, let age) = claimant {
            owners[id, default: Owner(database: waiter.database, age: age)].waiting.insert(ticket)
        }
        waiters[ticket] = waiter
        indexes[waiter.database, default: LockIndex()].enqueue(ticket, waiter.access)
        for id in waiter.hard { owners[id]?.blocked.insert(ticket) }
        for other in waiter.soft { waiters[other]?.followers.insert(ticket) }
    }

    /// - Returns: The followers, whose edges still lead to the waiter; nil if there is no such
    ///   waiter.
    private mutating func detach(_ ticket: LockTicket) -> Set<LockTicket>? {
        guard let waiter = waiters.removeValue(forKey: ticket) else { return nil }
        ready.remove(ticket)
        for id in waiter.hard { owners[id]?.blocked.remove(ticket) }
        for other in waiter.soft { waiters[other]?.followers.remove(ticket) }
        if case .transaction(let id) = waiter.agent {
            owners[id]?.waiting.remove(ticket)
            if let owner = owners[id], owner.waiting.isEmpty, owner.documents.isEmpty,
                owner.queries.isEmpty
            {
                owners[id] = nil
            }
        }
        indexes[waiter.database]?.dequeue(ticket, waiter.access)
        tidy(waiter.database)
        return waiter.followers
    }

    mutating func dropSoft(_ target: LockTicket, of ticket: LockTicket) {
        waiters[ticket]?.soft.remove(target)
        noteReady(ticket)
    }

    /// Changes the soft edges of a waiter.
    mutating func setSoft(_ soft: Set<LockTicket>, of ticket: LockTicket) {
        guard let old = waiters[ticket]?.soft else { return }
        for other in old.subtracting(soft) { waiters[other]?.followers.remove(ticket) }
        for other in soft.subtracting(old) { waiters[other]?.followers.insert(ticket) }
        waiters[ticket]?.soft = soft
        noteReady(ticket)
    }

    private mutating func tidy(_ database: DatabaseID) {
        if indexes[database]?.isEmpty == true { indexes[database] = nil }
    }

    /// Takes shared locks. Waiting writes that touch the locked documents then also wait for this
    /// transaction.
    private mutating func acquire(
        _ reading: LockedReading, database: DatabaseID, claimant: LockClaimant
    ) {
        guard case .transaction(let id, let age) = claimant else { return }
        var owner = owners.removeValue(forKey: id) ?? Owner(database: database, age: age)
        var index = indexes.removeValue(forKey: database) ?? LockIndex()
        var blocked: [LockTicket] = []
        for path in reading.documents where owner.documents.insert(path).inserted {
            index.lock(path, for: id)
            for queued in index.queues[path] ?? [] where queued.isWrite {
                blocked.append(queued.ticket)
            }
        }
        if let query = reading.query, owner.queries.insert(query).inserted {
            index.lock(query, for: id)
            blocked += index.writes.filter { isTouched(query, by: $0) }
        }
        for ticket in blocked where waiters[ticket]?.agent != .transaction(id) {
            waiters[ticket]?.hard.insert(id)
            ready.remove(ticket)
            owner.blocked.insert(ticket)
        }
        owners[id] = owner
        indexes[database] = index
        tidy(database)
        if !owner.waiting.isEmpty { resolve(.transaction(id)) }
    }

    func isTouched(_ query: LockedQuery, by ticket: LockTicket) -> Bool {
        guard case .write(let changes)? = waiters[ticket]?.access else { return false }
        return query.isTouched(by: changes)
    }
}
