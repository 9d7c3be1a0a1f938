import TidemarkModel
import TidemarkStore

/// The server's time, and the times of each database that callers have received: the last commit,
/// the latest reader, and the start of the log. Resume tokens contain only these values.
final class DatabaseClocks {
    private let machine: @Sendable () -> Timestamp
    /// The duration for which versions are kept.
    private let history: Duration
    /// The difference between the server's clock and the machine's.
    private var offset: Duration = .zero
    /// The identity of the data: a token of a server that lost its memory is invalid.
    private(set) var incarnation: Int64
    private(set) var states: [DatabaseID: DatabaseState]

    /// The part of a server's snapshot about the clocks.
    struct Saved: Sendable {
        fileprivate let states: [DatabaseID: DatabaseState]
        fileprivate let offset: Duration
    }

    init(
        _ states: [DatabaseID: DatabaseState], incarnation: Int64, history: Duration,
        machine: @escaping @Sendable () -> Timestamp
    ) {
        self.states = states
        self.incarnation = incarnation
        self.history = history
        self.machine = machine
    }

    // MARK: The clock

    /// The server's time.
    var now: Timestamp { machine().advanced(by: offset) }

    /// The time before which versions need not be kept.
    var oldestKept: Timestamp { now.advanced(by: .zero - history) }

    /// Sets the server's clock. Read times can go back with the clock; commit times cannot. Streams
    /// and transactions that were opened before must then be opened again.
    ///
    /// - Returns: The reason, if the time is refused.
    func set(_ time: Timestamp?) -> RPCStatus? {
        let machine = machine()
        let offset = time?.duration(since: machine) ?? .zero
        let last = states.values.map(\.lastCommit).max() ?? 0
        if machine.advanced(by: offset).microseconds < last {
            return RPCStatus(
                .failedPrecondition,
                "The clock cannot go back to before the last commit, at \(last) microseconds.")
        }
        self.offset = offset
        for id in states.keys { states[id]?.forgetReaders(after: now) }
        return nil
    }

    // MARK: Readers

    /// Returns a time for a reader of the database: at or after every version that the reader can
    /// see.
    func takeReadTime(_ database: DatabaseID) -> Timestamp {
        if states[database] == nil, states.count >= DatabaseState.capacity {
            var state = DatabaseState()
            return state.takeReadTime(now: now)
        }
        return states[database, default: DatabaseState()].takeReadTime(now: now)
    }

    /// Checks a read time. A past time must still be in the log, and a future time is refused.
    func check(readTime time: Timestamp, _ database: DatabaseID) throws(RPCStatus) {
        let latest = takeReadTime(database)
        if time > latest {
            throw .invalidArgument("The requested read time lies in the future.")
        }
        // The code is production's; its text was not recorded.
        if time < oldestKept || !isKept(time, database) {
            throw .invalidArgument("The requested snapshot version is too old.")
        }
    }

    /// Returns true if the log reaches back to a time.
    func isKept(_ time: Timestamp, _ database: DatabaseID) -> Bool {
        time.microseconds >= states[database]?.logStart ?? 0
    }

    // MARK: Resume tokens

    /// Returns a token for the newest state, which the client has completely.
    func resumeToken(_ database: DatabaseID, readTime: Timestamp) -> ResumeToken {
        ResumeToken(
            incarnation: incarnation, position: states[database]?.lastCommit ?? 0,
            readTime: readTime)
    }

    /// Returns a token for the state of a commit, and no later.
    func resumeToken(at time: Timestamp) -> ResumeToken {
        ResumeToken(incarnation: incarnation, position: time.microseconds, readTime: time)
    }

    // MARK: Changes by commits

    /// Takes over the databases' states of a transaction, after it is durable.
    func adopt(_ states: [DatabaseID: DatabaseState]) { self.states = states }

    func adopt(_ state: DatabaseState, of database: DatabaseID) { states[database] = state }

    // MARK: Snapshots

    var saved: Saved { Saved(states: states, offset: offset) }

    /// - Parameter incarnation: The new identity of the data.
    func restore(_ saved: Saved, incarnation: Int64) {
        states = saved.states
        offset = saved.offset
        self.incarnation = incarnation
    }
}

// MARK: - The store's tables

extension DatabaseClocks {
    static func loadIncarnation(
        _ transaction: StoreTransaction, orMake chance: Int64
    ) throws(StoreError) -> Int64 {
        if let row = try transaction.rows("SELECT incarnation FROM serverIdentity").first {
            return try row.integer(0)
        }
        try transaction.execute("INSERT INTO serverIdentity VALUES (?)", [.integer(chance)])
        return chance
    }

    static func loadStates(
        _ transaction: StoreTransaction
    ) throws(StoreError) -> [DatabaseID: DatabaseState] {
        var result: [DatabaseID: DatabaseState] = [:]
        let rows = try transaction.rows("SELECT id, name, lastCommit, logStart FROM serverDatabase")
        for row in rows {
            let name = try row.text(1)
            guard let id = try? DatabaseID(name: name) else {
                throw .corrupt(detail: "a database is named \(name)")
            }
            let last = try row.integer(2)
            result[id] = try DatabaseState(
                rowID: row.integer(0), lastCommit: last, lastSeen: last, logStart: row.integer(3))
        }
        return result
    }
}
