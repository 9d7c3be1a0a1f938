import TidemarkModel

/// The open transactions, and the remembered endings of others.
///
/// Read-write transactions lock their reads, in the ``LockTable``. An optimistic transaction
/// remembers them here instead, and its commit fails if any of them has changed.
struct TransactionTable {
    /// The maximum number of open transactions; further transactions are refused.
    static let capacity = 10_000
    /// The maximum number of documents and queries that a transaction may read.
    static let maxReads = 100_000
    /// The limits of an open transaction. Production was measured to expire an idle transaction
    /// after 111 to 123 s, and any after 253 to 280 s.
    static let idleLimit = Duration.seconds(120)
    static let totalLimit = Duration.seconds(270)
    /// The time after its begin for which an expired transaction is known; later its id is unknown.
    /// Source: server-production-facts 6, measured between 298.7 and 302.2 s.
    static let memory = Duration.seconds(300)
    /// The length of an id in bytes.
    static let idLength = 16

    enum Ending {
        case committed, rolledBack, expired
        /// A read-only transaction tried to write.
        case refusedWrite
    }

    enum Mode {
        /// The transaction may not write, and reads as of a time.
        case readOnly(Timestamp)
        case optimistic
        case pessimistic
    }

    struct Open {
        let database: DatabaseID
        /// The caller that has begun it. To all others its id is unknown.
        let caller: CallerMark
        let mode: Mode
        let age: LockAge
        let begun: Timestamp
        var lastUsed: Timestamp
        /// The versions of the read documents; an inner nil for a missing document.
        var versions: [DocumentPath: Timestamp?] = [:]
        /// The queries of the transaction, with their read times.
        var queries: [(query: Query, readTime: Timestamp)] = []

        var isReadOnly: Bool {
            if case .readOnly = mode { true } else { false }
        }
    }

    private struct Ended {
        let ending: Ending
        let wasReadOnly: Bool
        let caller: CallerMark
        let age: LockAge
        let begun: Timestamp
    }

    private var open: [TransactionID: Open] = [:]
    private var endings: [TransactionID: Ended] = [:]
    /// The keys of `endings`, oldest first. Above twice ``capacity``, the oldest ``capacity`` keys
    /// are forgotten.
    private var endingOrder: [TransactionID] = []
    private var begunCount: UInt64 = 0
    /// The time before which no open transaction expires.
    private(set) var nextExpiry: Timestamp?

    static let expired = RPCStatus(
        .aborted, "The referenced transaction has expired or is no longer valid.")
    static let contention = RPCStatus(
        .aborted, "Too much contention on these documents. Please try again.")
    static let tooManyReads = RPCStatus(
        .resourceExhausted, "The transaction has read too much.")
    static let deadlock = RPCStatus(
        .aborted,
        "Aborted due to cross-transaction contention. This occurs when multiple transactions attempt "
            + "to access the same data, requiring Firestore to abort at least one in order to "
            + "enforce serializability.")

    /// Begins a transaction. The attempt that it retries can still be open, and stays open:
    /// programs that share a wrapped function among threads name each other's transactions.
    mutating func begin(
        _ options: TransactionOptions, id: TransactionID, database: DatabaseID,
        caller: CallerMark, now: Timestamp, snapshot: Timestamp
    ) throws(RPCStatus) {
        if open.count >= Self.capacity {
            throw RPCStatus(.resourceExhausted, "Too many transactions are open.")
        }
        begunCount += 1
        var age = LockAge(first: begunCount, own: begunCount)
        var mode = Mode.readOnly(snapshot)
        if case .readWrite(let retrying, let concurrency) = options {
            mode = concurrency == .optimistic ? .optimistic : .pessimistic
            if let retrying, let first = try firstAge(retrying, caller) {
                age = LockAge(first: first, own: begunCount)
            }
        }
        open[id] = Open(
            database: database, caller: caller, mode: mode, age: age, begun: now, lastUsed: now)
        let expiry = now.advanced(by: Self.idleLimit)
        nextExpiry = nextExpiry.map { min($0, expiry) } ?? expiry
    }

    /// Returns the age of the first attempt of that transaction; nil if it is unknown.
    private func firstAge(_ id: TransactionID, _ caller: CallerMark) throws(RPCStatus) -> UInt64? {
        // The text is from readers of production's code; it was not recorded.
        if id.count != Self.idLength { throw .invalidArgument("Invalid retry transaction.") }
        guard (open[id]?.caller ?? endings[id]?.caller) == caller else { return nil }
        if open[id]?.isReadOnly ?? endings[id]?.wasReadOnly ?? false {
            throw .invalidArgument("Cannot retry a read-only transaction")
        }
        return (open[id]?.age ?? endings[id]?.age)?.first
    }

    /// Returns the open transaction of an id; a use keeps it alive.
    mutating func use(
        _ id: TransactionID, database: DatabaseID, caller: CallerMark, now: Timestamp
    ) throws(RPCStatus) -> Open {
        if id.count != Self.idLength { throw .invalidArgument("Invalid transaction.") }
        guard let transaction = open[id], transaction.database == database,
            transaction.caller == caller, Self.expiry(of: transaction) >= now
        else {
            if let ended = endings[id], ended.ending == .refusedWrite, ended.caller == caller {
                throw .invalidArgument(Self.expired.message)
            }
            throw Self.expired
        }
        open[id]?.lastUsed = now
        return transaction
    }

    mutating func record(_ id: TransactionID, _ path: DocumentPath, version: Timestamp?) {
        guard var transaction = open.removeValue(forKey: id) else { return }
        // A second read with another version makes the first stale, which the commit will detect.
        if transaction.versions[path] == nil {
            transaction.versions.updateValue(version, forKey: path)
        }
        open[id] = transaction
    }

    mutating func record(_ id: TransactionID, _ query: Query, readTime: Timestamp) {
        open[id]?.queries.append((query, readTime))
    }

    /// Returns true if another read would exceed the limit.
    func isFull(_ id: TransactionID) -> Bool {
        open[id].map { $0.versions.count + $0.queries.count >= Self.maxReads } ?? false
    }

    mutating func rollback(
        _ id: TransactionID, database: DatabaseID, caller: CallerMark, now: Timestamp
    ) throws(RPCStatus) {
        if id.count != Self.idLength { throw .invalidArgument("Invalid transaction.") }
        if let transaction = open[id], transaction.database == database,
            transaction.caller == caller
        {
            end(id, Self.expiry(of: transaction) < now ? .expired : .rolledBack)
            return
        }
        guard let ended = endings[id], ended.caller == caller else { throw Self.expired }
        switch ended.ending {
        case .rolledBack, .refusedWrite: return
        case .expired:
            if now.duration(since: ended.begun) > Self.memory { throw Self.expired }
        case .committed: throw Self.expired
        }
    }

    /// Returns the open transactions of a database, in the order of their begin.
    func ids(in database: DatabaseID) -> [TransactionID] {
        open.filter { $0.value.database == database }.sorted { $0.value.age.own < $1.value.age.own }
            .map(\.key)
    }

    mutating func end(_ id: TransactionID, _ ending: Ending) {
        guard let transaction = open.removeValue(forKey: id) else { return }
        endings[id] = Ended(
            ending: ending, wasReadOnly: transaction.isReadOnly, caller: transaction.caller,
            age: transaction.age, begun: transaction.begun)
        endingOrder.append(id)
        if endingOrder.count > 2 * Self.capacity {
            for old in endingOrder.prefix(Self.capacity) { endings[old] = nil }
            endingOrder.removeFirst(Self.capacity)
        }
    }

    // MARK: Expiry

    private static func expiry(of transaction: Open) -> Timestamp {
        min(
            transaction.lastUsed.advanced(by: idleLimit),
            transaction.begun.advanced(by: totalLimit))
    }

    /// Ends the transactions whose time has passed. A transaction that waits for a lock counts as
    /// in use.
    ///
    /// - Returns: The ids, in the order of their begin.
    mutating func expire(now: Timestamp, isWaiting: (TransactionID) -> Bool) -> [TransactionID] {
        guard let nextExpiry, nextExpiry < now else { return [] }
        var due: [(id: TransactionID, age: LockAge)] = []
        var earliest: Timestamp?
        for (id, transaction) in open {
            var transaction = transaction
            if isWaiting(id) {
                transaction.lastUsed = now
                open[id]?.lastUsed = now
            }
            let expiry = Self.expiry(of: transaction)
            if expiry < now {
                due.append((id, transaction.age))
            } else {
                earliest = earliest.map { min($0, expiry) } ?? expiry
            }
        }
        self.nextExpiry = earliest
        due.sort { $0.age.own < $1.age.own }
        for (id, _) in due { end(id, .expired) }
        return due.map(\.id)
    }
}
