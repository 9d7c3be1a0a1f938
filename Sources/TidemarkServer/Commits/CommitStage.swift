import TidemarkModel
import TidemarkStore

/// The commits of a turn, while their transaction runs. The stage changes the store and a copy of
/// the databases' clocks. The core takes over the copy after the transaction is durable, or drops
/// it.
struct CommitStage {
    private let clocks: DatabaseClocks
    private let transactions: Transactions
    private let listens: Listens
    private let admission: QueryAdmission
    private let rules: RulesChecks
    private let events: DocumentEvents
    private let billing: Billing
    private let editions: DatabaseEditions

    /// The store's transaction; set only while it runs.
    var transaction: StoreTransaction?
    private(set) var databases: [DatabaseID: DatabaseState]
    private var touched: Set<DatabaseID> = []
    private(set) var commits: [Commit] = []
    /// The events that the commits have stored for triggers.
    private(set) var recordedEvents = RecordedEvents()
    private(set) var bills: [Bill] = []
    private(set) var endedTransactions: [TransactionID: TransactionTable.Ending] = [:]
    /// The locks of the transactions that have ended.
    private(set) var released: [(id: TransactionID, owner: LockTable.Owner)] = []
    /// The method of the command that is being performed.
    var method = RPCMethod.commit
    /// The ticket with which the performed command has waited.
    var ticket: LockTicket?

    struct Bill {
        let context: CallContext
        let method: RPCMethod
        let collection: CollectionPath
        let usage: Usage
    }

    init(
        _ clocks: DatabaseClocks, transactions: Transactions, listens: Listens,
        admission: QueryAdmission, rules: RulesChecks, events: DocumentEvents, billing: Billing,
        editions: DatabaseEditions
    ) {
        self.editions = editions
        self.clocks = clocks
        self.transactions = transactions
        self.listens = listens
        self.admission = admission
        self.rules = rules
        self.events = events
        self.billing = billing
        databases = clocks.states
    }

    /// Returns the sum of the bills from an index on.
    func usage(since firstBill: Int) -> Usage {
        bills[firstBill...].reduce(into: Usage()) { $0 += $1.usage }
    }

    // MARK: Commits

    /// Commits the mutations: all or nothing.
    ///
    /// - Parameter record: Stores data that belong to the commit; called with the reply and the
    ///   database's row. An undo of the commit also undoes these data.
    /// - Throws: ``RPCStatus`` if the commit is refused, and ``LockWait`` if it must wait for
    ///   others, both with nothing changed; ``StoreError`` if the transaction of the batch is lost.
    mutating func commit(
        _ mutations: [Mutation], _ context: CallContext, transactionID: TransactionID? = nil,
        record: (CommitReply, Int64, StoreTransaction) throws(StoreError) -> Void = { _, _, _ in }
    ) throws -> CommitReply {
        guard let transaction else { throw RPCStatus(.internal, "No transaction is open.") }
        let database = context.database
        let edition = editions.edition(of: database)
        let valid = try Mutation.validated(mutations, edition: edition)
        let claimant = try claimant(transactionID, context, hasWrites: !valid.isEmpty)
        let previous = databases[database]
        let row: Int64
        let time: Timestamp
        do {
            (row, time) = try takeCommitTime(database)
            let draft = try granted(
                valid, context: context, time: time, transaction: transaction, claimant: claimant)
            let reply = CommitReply(results: draft.results, commitTime: time)
            let differences = draft.draft.differences
            let drafts = try events.drafts(
                of: differences, context: context, time: time, after: recordedEvents)
            // From here on a failure comes only from the store, and undoes the whole batch.
            commits.append(
                try store(
                    differences, database: database, row: row, time: time,
                    transaction: transaction))
            try events.save(drafts, in: transaction, to: &recordedEvents)
            try record(reply, row, transaction)
            let units = edition.isBilledByUnits ? entryUnits(of: draft.draft) : [:]
            count(valid, units: units, context)
            if let transactionID { endedTransactions[transactionID] = .committed }
            return reply
        } catch {
            // The database's time is restored. The row stays if this commit created it.
            if var previous {
                previous.rowID = databases[database]?.rowID
                databases[database] = previous
            }
            throw error
        }
    }

    /// - Throws: ``RPCStatus`` `permissionDenied` with the reason; ``StoreError``.
    private mutating func askRules(
        _ mutations: [Mutation], context: CallContext, time: Timestamp,
        transaction: StoreTransaction
    ) throws {
        var reads = 0
        defer {
            if reads > 0 {
                bills.append(
                    Bill(
                        context: context, method: method,
                        collection: CollectionPath(unchecked: MeterDetail.ofRules),
                        usage: Usage(reads: reads)))
            }
        }
        try rules.check(mutations, context: context, requestTime: time, transaction: transaction) {
            reads = $0
        }
    }

    /// Applies the mutations in memory. Returns the changed documents and the results.
    private func prepare(
        _ mutations: [Mutation], database: DatabaseID, time: Timestamp,
        transaction: StoreTransaction
    ) throws -> PreparedCommit {
        var draft = CommitDraft(
            database: database, time: time, edition: editions.edition(of: database))
        let table = transaction.documents(of: database)
        var applied: [(entry: Int, transformResults: [Value])] = []
        applied.reserveCapacity(mutations.count)
        for mutation in mutations {
            applied.append(try draft.apply(mutation) { try table.row(at: $0) })
        }
        try draft.validateIndexEntries(admission.configuration(of: database))
        let results = zip(mutations, applied).map { mutation, applied in
            let isDelete = mutation.operation == .delete
            return MutationResult(
                updateTime: isDelete ? nil : draft.version(ofEntry: applied.entry),
                transformResults: applied.transformResults)
        }
        return PreparedCommit(draft: draft, results: results)
    }

    /// Writes the documents and their log rows, and reads the windows that may have changed.
    private func store(
        _ differences: [DocumentDifference], database: DatabaseID, row: Int64,
        time: Timestamp, transaction: StoreTransaction
    ) throws(StoreError) -> Commit {
        let table = transaction.documents(of: database)
        let log = ChangeLog(database: row, documents: table)
        for difference in differences {
            if let after = difference.after, let fields = difference.fieldsAfter {
                try table.put(
                    StoredDocument(after, readTime: after.updateTime), fields,
                    replacing: difference.before.map { ($0.row, $0.fields) })
            } else if let before = difference.before {
                try table.remove(before.row, before.fields)
            }
            try log.append(difference, at: time)
        }
        var windows: [(target: LiveTarget, rows: [Document])] = []
        // Many targets can have the same query: it runs once.
        var rowsByQuery: [Query: [Document]] = [:]
        for target in listens.windowedTargets(touchedBy: differences, in: database) {
            guard case .query(let query) = target.kind else { continue }
            let rows: [Document]
            if let known = rowsByQuery[query] {
                rows = known
            } else {
                rows = try table.run(query).documents.compactMap(\.document)
                rowsByQuery[query] = rows
            }
            windows.append((target, rows))
        }
        return Commit(database: database, time: time, changes: differences, windows: windows)
    }

    /// Returns the write units of a commit to a database of the Enterprise edition.
    private func entryUnits(of draft: CommitDraft) -> [CollectionPath: Int] {
        let catalog = admission.configuration(of: draft.database).catalog
        return draft.writeUnits { collection in
            EntrySizes(catalog.composites(of: ByteString(collection.id)))
        }
    }

    /// Bills the mutations. A write that changes nothing is billed like any other.
    ///
    /// - Parameter units: The write units of each collection; empty for the Standard edition.
    private mutating func count(
        _ mutations: [Mutation], units: [CollectionPath: Int], _ context: CallContext
    ) {
        var usages: [CollectionPath: Usage] = [:]
        for mutation in mutations {
            let usage =
                switch mutation.operation {
                case .set, .patch: Usage(writes: 1)
                case .delete: Usage(deletes: 1)
                case .verify: Usage(reads: billing.verifyReads)
                }
            usages[mutation.path.parent, default: Usage()] += usage
        }
        for (collection, count) in units {
            usages[collection, default: Usage()].units.write += count
        }
        for (collection, usage) in usages {
            bills.append(
                Bill(context: context, method: method, collection: collection, usage: usage))
        }
    }

    /// Bills reads that a command made before its commit.
    mutating func bill(_ usage: Usage, _ context: CallContext, on collection: CollectionPath) {
        bills.append(Bill(context: context, method: method, collection: collection, usage: usage))
    }

    /// Returns the row of a database, which is created on first use, and its next commit time.
    private mutating func takeCommitTime(_ database: DatabaseID) throws -> (
        row: Int64, time: Timestamp
    ) {
        guard let transaction else { throw RPCStatus(.internal, "No transaction is open.") }
        if databases[database] == nil, databases.count >= DatabaseState.capacity {
            throw RPCStatus(.resourceExhausted, "The server has too many databases.")
        }
        var state = databases[database] ?? DatabaseState()
        let time = state.takeCommitTime(now: clocks.now)
        if state.rowID == nil {
            try transaction.execute(
                "INSERT INTO serverDatabase (name, lastCommit, logStart) VALUES (?, ?, 0)",
                [.text(database.name), .integer(time)])
            state.rowID = transaction.lastInsertedRowID
        }
        databases[database] = state
        touched.insert(database)
        return (state.rowID ?? 0, Timestamp(microseconds: time))
    }

    // MARK: Transactions and locks

    /// Returns the claimant of a commit's locks. If the commit is refused, its transaction ends.
    private mutating func claimant(
        _ id: TransactionID?, _ context: CallContext, hasWrites: Bool
    ) throws -> LockClaimant {
        guard let id else { return .plain }
        guard endedTransactions[id] == nil else { throw TransactionTable.expired }
        let open = try transactions.use(id, context)
        switch open.mode {
        case .pessimistic: break
        case .optimistic:
            if try hasConflict(open) {
                end(id, .rolledBack)
                throw TransactionTable.contention
            }
        case .readOnly:
            if hasWrites {
                end(id, .refusedWrite)
                throw RPCStatus.invalidArgument(
                    "Cannot modify entities in a read-only transaction")
            }
        }
        return .transaction(id, age: open.age)
    }

    /// Ends the transaction with the batch: its locks are free for later commands of the batch.
    private mutating func end(_ id: TransactionID, _ ending: TransactionTable.Ending) {
        endedTransactions[id] = ending
        if let owner = transactions.releaseLocks(of: id) { released.append((id, owner)) }
    }

    /// Returns the documents after the mutations, if no other transaction has locked any of them.
    /// The transaction ends in any case.
    ///
    /// - Throws: ``LockWait`` if the commit must wait, even if the present documents would make it
    ///   fail; ``RPCStatus``, ``StoreError``.
    private mutating func granted(
        _ mutations: [Mutation], context: CallContext, time: Timestamp,
        transaction: StoreTransaction, claimant: LockClaimant
    ) throws -> PreparedCommit {
        let database = context.database
        guard transactions.concerns(database) else {
            if case .transaction(let id, _) = claimant { end(id, .rolledBack) }
            try askRules(
                mutations, context: context, time: CommitDraft.requestTime(of: time),
                transaction: transaction)
            return try prepare(mutations, database: database, time: time, transaction: transaction)
        }
        let outcome: Result<PreparedCommit, RPCStatus>
        do {
            outcome = .success(
                try prepare(mutations, database: database, time: time, transaction: transaction))
        } catch let status as RPCStatus {
            outcome = .failure(status)
        }
        let changes =
            (try? outcome.get())?.draft.lockedChanges
            ?? mutations.filter { $0.operation != .verify }.map {
                LockedChange(path: $0.path, before: nil, after: nil)
            }
        if let ticket = try transactions.lock(
            .write(changes), database: database, claimant: claimant, again: ticket)
        {
            throw LockWait(ticket: ticket)
        }
        if case .transaction(let id, _) = claimant { end(id, .rolledBack) }
        // The rules come before other errors: a refused caller must not learn if a document exists.
        try askRules(
            mutations, context: context, time: CommitDraft.requestTime(of: time),
            transaction: transaction)
        return try outcome.get()
    }

    /// Returns true if a document or query that an optimistic transaction has read has changed.
    private func hasConflict(_ open: TransactionTable.Open) throws -> Bool {
        guard let transaction else { return true }
        let table = transaction.documents(of: open.database)
        for (path, version) in open.versions {
            if try table.document(at: path)?.updateTime != version { return true }
        }
        guard let state = databases[open.database], let row = state.rowID else { return false }
        let log = ChangeLog(database: row, documents: table)
        for (query, readTime) in open.queries {
            // A change that the log no longer contains may have been a conflict.
            if readTime.microseconds < state.logStart { return true }
            let undos = try log.undos(after: readTime) { query.contains($0) }
            for undo in undos {
                if let before = undo.previous,
                    query.matches(before.path, before.fields, in: open.database)
                {
                    return true
                }
                if let now = try table.document(at: undo.path)?.document,
                    query.matches(now.path, now.fields, in: open.database)
                {
                    return true
                }
            }
        }
        return false
    }

    // MARK: The end of the turn

    /// Writes the data that a turn writes once: the clocks of its databases, and the trimmed logs.
    mutating func finish() throws {
        guard let transaction else { return }
        for database in touched.sorted(by: { $0.name < $1.name }) {
            guard var state = databases[database], let row = state.rowID else { continue }
            let log = ChangeLog(
                database: row, documents: transaction.documents(of: database))
            if let start = try log.trim(before: clocks.oldestKept.microseconds) {
                state.logStart = start
            }
            try transaction.execute(
                "UPDATE serverDatabase SET lastCommit = ?, logStart = ? WHERE id = ?",
                [.integer(state.lastCommit), .integer(state.logStart), .integer(row)])
            databases[database] = state
        }
    }
}

/// The reason why a commit is not performed now: it has a place in the queues.
struct LockWait: Error {
    let ticket: LockTicket
}
