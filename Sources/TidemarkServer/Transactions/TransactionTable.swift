import TidemarkModel

/// The transactions that are open, and how those ended that are still remembered.
///
/// They are optimistic: one remembers what it read, and its commit fails when any of it has changed.
struct TransactionTable {
    /// Beyond this many open ones a new one is refused.
    static let capacity = 10_000
    /// Documents and queries that one may read.
    static let maxReads = 100_000
    /// Production was measured to expire an idle one after 111 to 123 s, and any after 253 to 280 s.
    static let idleLimit = Duration.seconds(120)
    static let totalLimit = Duration.seconds(270)

    enum Ending { case committed, rolledBack, expired }

    struct Open {
        let database: DatabaseID
        /// Set for read-only ones: they may not write.
        let isReadOnly: Bool
        /// What a read-only one reads as of.
        let snapshot: Timestamp?
        let begun: Timestamp
        var lastUsed: Timestamp
        /// The version of each document read; nil inside for one that was missing.
        var versions: [DocumentPath: Timestamp?] = [:]
        /// The queries it has run, and as of when.
        var queries: [(query: Query, readTime: Timestamp)] = []
    }

    private var open: [TransactionID: Open] = [:]
    private var endings: [TransactionID: (ending: Ending, wasReadOnly: Bool)] = [:]
    /// The keys of `endings`, oldest first; as many as may be open are remembered.
    private var endingOrder: [TransactionID] = []

    static let expired = RPCStatus(
        .aborted, "The referenced transaction has expired or is no longer valid.")
    static let contention = RPCStatus(
        .aborted, "Too much contention on these documents. Please try again.")

    mutating func begin(
        _ options: TransactionOptions, id: TransactionID, database: DatabaseID, now: Timestamp,
        snapshot: Timestamp
    ) throws(RPCStatus) {
        if open.count >= Self.capacity { expireAll(now: now) }
        if open.count >= Self.capacity {
            throw RPCStatus(.resourceExhausted, "Too many transactions are open.")
        }
        var isReadOnly = false
        switch options {
        case .readOnly: isReadOnly = true
        case .readWrite(let retrying, _):
            if let retrying, open[retrying]?.isReadOnly ?? endings[retrying]?.wasReadOnly ?? false {
                throw .invalidArgument("Cannot retry a read-only transaction")
            }
        }
        open[id] = Open(
            database: database, isReadOnly: isReadOnly, snapshot: isReadOnly ? snapshot : nil,
            begun: now, lastUsed: now)
    }

    /// The open transaction of that id; a use keeps it alive.
    mutating func use(
        _ id: TransactionID, database: DatabaseID, now: Timestamp
    ) throws(RPCStatus) -> Open {
        expire(id, now: now)
        guard let transaction = open[id], transaction.database == database else {
            throw Self.expired
        }
        open[id]?.lastUsed = now
        return transaction
    }

    mutating func record(_ id: TransactionID, _ path: DocumentPath, version: Timestamp?) {
        guard var transaction = open.removeValue(forKey: id) else { return }
        // A second, different reading makes the first one stale: the commit will see that.
        if transaction.versions[path] == nil {
            transaction.versions.updateValue(version, forKey: path)
        }
        open[id] = transaction
    }

    mutating func record(_ id: TransactionID, _ query: Query, readTime: Timestamp) {
        open[id]?.queries.append((query, readTime))
    }

    /// Whether one more read is too many.
    func isFull(_ id: TransactionID) -> Bool {
        open[id].map { $0.versions.count + $0.queries.count >= Self.maxReads } ?? false
    }

    mutating func rollback(
        _ id: TransactionID, database: DatabaseID, now: Timestamp
    ) throws(RPCStatus) {
        expire(id, now: now)
        if let transaction = open[id], transaction.database == database {
            end(id, .rolledBack)
            return
        }
        switch endings[id]?.ending {
        case .rolledBack, .expired: return
        case .committed, nil: throw Self.expired
        }
    }

    mutating func end(_ id: TransactionID, _ ending: Ending) {
        guard let transaction = open.removeValue(forKey: id) else { return }
        endings[id] = (ending, transaction.isReadOnly)
        endingOrder.append(id)
        if endingOrder.count > 2 * Self.capacity {
            for old in endingOrder.prefix(Self.capacity) { endings[old] = nil }
            endingOrder.removeFirst(Self.capacity)
        }
    }

    private mutating func expire(_ id: TransactionID, now: Timestamp) {
        guard let transaction = open[id] else { return }
        if now.duration(since: transaction.lastUsed) > Self.idleLimit
            || now.duration(since: transaction.begun) > Self.totalLimit
        {
            end(id, .expired)
        }
    }

    private mutating func expireAll(now: Timestamp) {
        for id in Array(open.keys) { expire(id, now: now) }
    }
}
