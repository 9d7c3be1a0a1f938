import TidemarkModel
import TidemarkStore

/// The server's decisions: commands in, replies and events out. Synchronous, in one thread at a time,
/// and everything that is not a function of what came in is asked of its environment.
///
/// A batch of commands is taken in two halves. First all writes, in order, in one transaction of the
/// store that is synced once; when that fails, all of them fail and nothing in memory has changed.
/// Then what they committed is published to the listens, and everything else is answered, in order,
/// from the durable state. Commands of one batch all wait at the same time, so none can tell that a
/// read went behind a later write; and no answer ever rests on what could still fail.
///
/// A command that must wait for the locks of a transaction is parked. When it need not wait any more it
/// is performed as if it came now, but in its old place in the queues, before the turn ends.
final class ServerCore {
    let configuration: FirestoreServer.Configuration
    let environment: ServerEnvironment
    let store: DocumentStore
    /// Tells the data apart from other data: a token of a server that lost its memory is no good.
    var incarnation: Int64

    var databases: [DatabaseID: DatabaseState]
    var listens = ListenRegistry()
    var writeStreams: [CallID: WriteStreamState] = [:]
    /// How many streams' histories are in the store.
    var storedStreams: Int
    var transactions = TransactionTable()
    var unfinished = UnfinishedAnswers()
    var locks = LockTable()
    var parked = ParkedCommands()
    /// The transaction that the call in hand has begun, before its locks were granted.
    var begun: TransactionID?
    /// What became of commands that are not in hand: for the end of the phase.
    var lateOutputs: [Output] = []
    var meter = UsageMeter()
    var listenEndings = ListenEndings()
    /// When quiet streams get a new token, by the executor's time; nil while nobody listens.
    var nextRefresh: Duration?
    var indexes: IndexRegister
    /// Security rules; nil where everything is allowed.
    var rules: RulesSettings?
    /// How far the server's clock is ahead of the machine's.
    var clockOffset: Duration = .zero

    init(
        _ configuration: FirestoreServer.Configuration, environment: ServerEnvironment
    ) throws(StoreError) {
        let location =
            configuration.dataDirectory.map {
                DocumentStore.Location.file($0 + "/tidemark-server.sqlite")
            } ?? .memory
        let store = try DocumentStore(location, migrations: ServerSchema.migrations)
        let chance = Int64(truncatingIfNeeded: environment.randomBits())
        do {
            (incarnation, databases, storedStreams) = try store.write(.disk) { transaction in
                (
                    try Self.loadIncarnation(transaction, orMake: chance),
                    try Self.loadDatabases(transaction),
                    try WriteStreamTable(transaction: transaction).count()
                )
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(detail: "\(error)")
        }
        self.configuration = configuration
        indexes = IndexRegister(configuration.indexes)
        self.environment = environment
        self.store = store
    }

    private static func loadIncarnation(
        _ transaction: StoreTransaction, orMake chance: Int64
    ) throws(StoreError) -> Int64 {
        if let row = try transaction.rows("SELECT incarnation FROM serverIdentity").first {
            return try row.integer(0)
        }
        try transaction.execute("INSERT INTO serverIdentity VALUES (?)", [.integer(chance)])
        return chance
    }

    private static func loadDatabases(
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

    /// The server's time.
    var now: Timestamp { environment.now().advanced(by: clockOffset) }

    /// Read times may go back with the clock, where commit times do not: what was opened before, a
    /// stream or a transaction, is then to be opened again.
    ///
    /// - Returns: Why not, when it is refused.
    func setClock(_ time: Timestamp?) -> RPCStatus? {
        let machine = environment.now()
        let offset = time?.duration(since: machine) ?? .zero
        let last = databases.values.map(\.lastCommit).max() ?? 0
        if machine.advanced(by: offset).microseconds < last {
            return RPCStatus(
                .failedPrecondition,
                "The clock cannot go back to before the last commit, at \(last) microseconds.")
        }
        clockOffset = offset
        for id in databases.keys { databases[id]?.forgetReaders(after: now) }
        return nil
    }

    /// A time for a reader of the database: at or after every version it can see.
    func takeReadTime(_ database: DatabaseID) -> Timestamp {
        if databases[database] == nil, databases.count >= DatabaseState.capacity {
            var state = DatabaseState()
            return state.takeReadTime(now: now)
        }
        return databases[database, default: DatabaseState()].takeReadTime(now: now)
    }

    /// Ends every stream and the use of the store. Called once, after the last batch.
    func close() -> [Output] {
        let outputs = endAll(RPCStatus(.unavailable, "The server is shutting down."))
        // A file that cannot be closed has nothing left to tell anyone: all in it is durable.
        try? store.close()
        return outputs
    }

    /// Ends every stream, and forgets all transactions.
    func endAll(_ status: RPCStatus) -> [Output] {
        let streams = Set(writeStreams.keys).union(listens.streamIDs).union(parked.calls)
            .union(unfinished.ids).sorted()
        writeStreams = [:]
        unfinished = UnfinishedAnswers()
        listens = ListenRegistry()
        transactions = TransactionTable()
        parked = ParkedCommands()
        locks = LockTable()
        return streams.map { Output(id: $0, event: .ended(status)) }
    }
}
