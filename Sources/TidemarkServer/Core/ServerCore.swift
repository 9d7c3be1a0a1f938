import TidemarkModel
import TidemarkStore

/// Makes all decisions of the server: takes commands and returns replies and events. The core is
/// synchronous and runs on one thread at a time. Time, random numbers and other inputs come from
/// its environment.
///
/// A batch of commands is processed in two halves. First, all writes are performed in order, in one
/// transaction of the store that is synced once. If the transaction fails, all writes fail and
/// nothing in memory changes. Then the commits are published to the listens, and all other commands
/// are answered in order from the durable state. The commands of a batch wait at the same time, so
/// no caller can detect that a read follows a later write. No answer depends on data that could
/// still be lost.
///
/// A command that must wait for the locks of a transaction is parked. When it can continue, it is
/// performed like a new command, but in its old place in the queues, before the turn ends.
///
/// The core has no state of its own. Each of its parts owns a part of the state, and the core
/// passes commands from one part to the next.
final class ServerCore {
    let configuration: FirestoreServer.Configuration
    let environment: ServerEnvironment
    let store: DocumentStore

    let clocks: DatabaseClocks
    let meter: UsageMeter
    let indexes: QueryAdmission
    let streams: WriteStreams
    let transactions: Transactions
    let listens: Listens
    let reads: ReadAnswers
    let rules: RulesChecks
    let events: DocumentEvents

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
        indexes = QueryAdmission(
            configuration.indexes, editions: configuration.editions, ticks: environment.ticks)
        meter = UsageMeter(
            configuration.billing.units, editions: configuration.editions,
            indexes: indexes.names(_:_:in:))
        streams = WriteStreams(storedHistories: kept.histories)
        transactions = Transactions(
            clocks, streams: streams, environment: environment,
            lockTimeout: configuration.lockTimeout)
        listens = Listens(
            clocks, meter: meter, billing: configuration.billing, admission: indexes,
            executor: environment.executor)
        let access = ReadAccess(
            clocks, transactions: transactions, admission: indexes, meter: meter,
            configuration: configuration, environment: environment)
        rules = RulesChecks(clocks, meter, log: environment.log)
        reads = ReadAnswers(access, transactions: transactions, rules: rules)
        events = DocumentEvents(store, environment: environment)
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

    /// Loads the server's data from the store.
    ///
    /// - Parameter chance: The identity of the data if the store is new.
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

    /// Checks the rules again for every listen, and ends the listens that are now refused.
    func judgeListensAgain() throws(StoreError) -> [Output] {
        do {
            return try store.read { targets.judgeAgain($0) }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unreadable(detail: "\(error)")
        }
    }

    /// The earliest time at which work becomes due without a command, by the executor's time.
    var nextDeadline: Duration? {
        [transactions.nextDeadline, listens.nextRefresh].compactMap { $0 }.min()
    }

    /// Removes every document of a database in one commit, and informs the listens that contain
    /// them. Also removes the history: later reads at a past time and resumes find the log too
    /// short. The open transactions of the database end, and their locks are free. The cost depends
    /// on the tables and on the documents in listens. The other documents are read only if the
    /// database has triggers: then each removal is an event.
    ///
    /// - Throws: ``StoreError``; nothing has changed then.
    func clear(_ database: DatabaseID) throws -> [Output] {
        guard var state = clocks.states[database], let row = state.rowID else { return [] }
        let time = Timestamp(microseconds: state.takeCommitTime(now: clocks.now))
        let targets = listens.targets(in: database)
        let (members, removals) = try store.write(.disk) { transaction in
            let removals = try events.storeClearing(of: database, at: time, in: transaction)
            let scope = clocks.latestScope(database, transaction)
            let members = try targets.map {
                try $0.window.map { $0.keys.sorted() } ?? $0.matches(in: scope)
            }
            try scope.table.removeAll()
            try transaction.execute("DELETE FROM change WHERE database = ?", [.integer(row)])
            try transaction.execute(
                "UPDATE serverDatabase SET lastCommit = ?, logStart = ? WHERE id = ?",
                [.integer(time.microseconds), .integer(time.microseconds), .integer(row)])
            return (members, removals)
        }
        events.adopt(removals)
        state.logStart = time.microseconds
        clocks.adopt(state, of: database)
        transactions.endAll(in: database)
        var outputs: [Output] = []
        let dependent = targets.filter(review.depends)
        do {
            try store.read { transaction in
                let documents = ScopedDocuments(clocks.latestScope(database, transaction))
                review.judgeAgain(dependent, documents: documents, outputs: &outputs)
            }
        } catch {
            for target in dependent {
                review.end(target, cause: RPCStatus(storeFailure: error), outputs: &outputs)
            }
        }
        return outputs + publisher.clear(zip(targets, members), time)
    }

    /// Ends every stream and closes the store. Must be called once, after the last batch.
    func close() -> [Output] {
        let outputs = endAll(RPCStatus(.unavailable, "The server is shutting down."))
        // An error of the close has no consequence, because all data are already durable.
        try? store.close()
        return outputs
    }

    /// Ends every stream, and drops all transactions.
    func endAll(_ status: RPCStatus) -> [Output] {
        let calls = Set(streams.ids).union(listens.forgetAll()).union(transactions.forgetAll())
            .union(reads.forgetAll()).sorted()
        streams.removeAll()
        return calls.map { Output(id: $0, event: .ended(status)) }
    }
}
