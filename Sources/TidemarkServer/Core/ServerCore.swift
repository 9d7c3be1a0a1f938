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
///
/// The core holds no state of its own: each of its parts owns some, privately, and the core takes
/// commands from one to the next.
final class ServerCore {
    let configuration: FirestoreServer.Configuration
    let environment: ServerEnvironment
    let store: DocumentStore

    let clocks: DatabaseClocks
    let meter = UsageMeter()
    let indexes: QueryAdmission
    let streams: WriteStreams
    let transactions: Transactions
    let listens: Listens
    let reads: ReadAnswers
    let rules: RulesChecks

    init(
        _ configuration: FirestoreServer.Configuration, environment: ServerEnvironment
    ) throws(StoreError) {
        self.configuration = configuration
        self.environment = environment
        store = try Self.openStore(configuration)
        let chance = Int64(truncatingIfNeeded: environment.randomBits())
        let kept = try Self.load(store, orMake: chance)
        clocks = DatabaseClocks(
            kept.states, incarnation: kept.incarnation, history: configuration.history,
            machine: environment.now)
        indexes = QueryAdmission(configuration.indexes, ticks: environment.ticks)
        streams = WriteStreams(storedHistories: kept.histories)
        transactions = Transactions(
            clocks, streams, environment, lockTimeout: configuration.lockTimeout)
        listens = Listens(clocks, meter, configuration.billing, environment.executor)
        let access = ReadAccess(clocks, transactions, indexes, meter, configuration.billing)
        rules = RulesChecks(clocks, meter, log: environment.log)
        reads = ReadAnswers(access, transactions, rules)
    }

    private static func openStore(
        _ configuration: FirestoreServer.Configuration
    ) throws(StoreError) -> DocumentStore {
        let location =
            configuration.dataDirectory.map {
                DocumentStore.Location.file($0 + "/tidemark-server.sqlite")
            } ?? .memory
        return try DocumentStore(location, migrations: ServerSchema.migrations)
    }

    /// What the store knows from before.
    ///
    /// - Parameter chance: The identity of new data.
    private static func load(
        _ store: DocumentStore, orMake chance: Int64
    ) throws(StoreError) -> (
        incarnation: Int64, states: [DatabaseID: DatabaseState], histories: Int
    ) {
        do {
            return try store.write(.disk) { transaction in
                (
                    try DatabaseClocks.loadIncarnation(transaction, orMake: chance),
                    try DatabaseClocks.loadStates(transaction),
                    try WriteStreamTable(transaction: transaction).count()
                )
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(detail: "\(error)")
        }
    }

    var publisher: CommitPublisher { CommitPublisher(listens: listens) }
    var targets: TargetRequests {
        TargetRequests(listens: listens, clocks: clocks, admission: indexes, review: review)
    }
    var review: ListenReview { ListenReview(listens: listens, rules: rules) }

    /// Asks the rules again about every listen, and ends those that are refused now.
    func judgeListensAgain() throws(StoreError) -> [Output] {
        do {
            return try store.read { targets.judgeAgain($0) }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(detail: "\(error)")
        }
    }

    /// When something becomes due by itself, by the executor's time.
    var nextDeadline: Duration? {
        [transactions.nextDeadline, listens.nextRefresh].compactMap { $0 }.min()
    }

    /// Removes every document of a database in one commit, tells the listens of each that they had, and
    /// forgets the history with it: what is read or resumed from before finds the log too short. Costs
    /// what the tables cost to empty, and what the listens hold; the documents are not looked at.
    /// Its transactions are over: what they have locked is gone.
    ///
    /// - Throws: ``StoreError``, with nothing changed.
    func clear(_ database: DatabaseID) throws -> [Output] {
        guard var state = clocks.states[database], let row = state.rowID else { return [] }
        let time = Timestamp(microseconds: state.takeCommitTime(now: clocks.now))
        let targets = listens.targets(in: database)
        let members = try store.write(.disk) { transaction in
            let scope = clocks.latestScope(database, transaction)
            let members = try targets.map {
                try $0.window.map { $0.keys.sorted() } ?? $0.matches(in: scope)
            }
            try scope.table.removeAll()
            try transaction.execute("DELETE FROM change WHERE database = ?", [.integer(row)])
            try transaction.execute(
                "UPDATE serverDatabase SET lastCommit = ?, logStart = ? WHERE id = ?",
                [.integer(time.microseconds), .integer(time.microseconds), .integer(row)])
            return members
        }
        state.logStart = time.microseconds
        clocks.adopt(state, of: database)
        transactions.endAll(in: database)
        var outputs: [Output] = []
        let dependent = targets.filter(review.depends)
        do {
            try store.read { transaction in
                let documents = ScopedDocuments(clocks.latestScope(database, transaction))
                review.judgeAgain(dependent, documents, &outputs)
            }
        } catch {
            for target in dependent { review.end(target, RPCStatus(storeFailure: error), &outputs) }
        }
        return outputs + publisher.clear(zip(targets, members), time)
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
        let calls = Set(streams.ids).union(listens.forgetAll()).union(transactions.forgetAll())
            .union(reads.forgetAll()).sorted()
        streams.removeAll()
        return calls.map { Output(id: $0, event: .ended(status)) }
    }
}
