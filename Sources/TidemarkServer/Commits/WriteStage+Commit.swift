import TidemarkModel
import TidemarkStore

extension WriteStage {
    /// Commits the mutations: all or nothing.
    ///
    /// - Parameter record: Called with the reply and the database's row, to store what belongs with
    ///   the commit: it is undone with it.
    /// - Throws: ``RPCStatus`` when it is refused, with nothing changed; ``LockWait`` when it must
    ///   wait for others, with nothing changed; ``StoreError`` when the transaction of the batch is
    ///   lost.
    func commit(
        _ mutations: [Mutation], _ context: CallContext, transactionID: TransactionID? = nil,
        record: (CommitReply, Int64, StoreTransaction) throws(StoreError) -> Void = { _, _, _ in }
    ) throws -> CommitReply {
        guard let transaction else { throw RPCStatus(.internal, "No transaction is open.") }
        let valid = try Mutation.validated(mutations)
        let database = context.database
        let claimant = try claimant(transactionID, database, hasWrites: !valid.isEmpty)
        let previous = databases[database]
        let row: Int64
        let time: Timestamp
        do {
            (row, time) = try takeCommitTime(database)
            let draft = try granted(valid, database, time, transaction, claimant)
            try checkRules(valid, context, draft.draft.requestTime, transaction)
            let reply = CommitReply(results: draft.results, commitTime: time)
            // From here on a failure is the store's, and undoes the whole batch.
            commits.append(try store(draft.draft.differences, database, row, time, transaction))
            try record(reply, row, transaction)
            count(valid, context)
            if let transactionID { endedTransactions[transactionID] = .committed }
            return reply
        } catch {
            // Its time goes back, unless it made the database's row, which stays.
            if var previous {
                previous.rowID = databases[database]?.rowID
                databases[database] = previous
            }
            throw error
        }
    }

    /// Applies the mutations in memory: what they make of the documents, and their results.
    func prepare(
        _ mutations: [Mutation], _ database: DatabaseID, _ time: Timestamp,
        _ transaction: StoreTransaction
    ) throws -> PreparedCommit {
        var draft = CommitDraft(database: database, time: time)
        let table = transaction.documents(of: database)
        var applied: [(entry: Int, transformResults: [Value])] = []
        applied.reserveCapacity(mutations.count)
        for mutation in mutations {
            applied.append(try draft.apply(mutation) { try table.row(at: $0) })
        }
        try draft.validateIndexEntries(core.indexes.configuration)
        let results = zip(mutations, applied).map { mutation, applied in
            let isDelete = mutation.operation == .delete
            return MutationResult(
                updateTime: isDelete ? nil : draft.version(ofEntry: applied.entry),
                transformResults: applied.transformResults)
        }
        return PreparedCommit(draft: draft, results: results)
    }

    /// Writes the documents and their log rows, and looks at the windows they may have moved.
    private func store(
        _ differences: [DocumentDifference], _ database: DatabaseID, _ row: Int64,
        _ time: Timestamp, _ transaction: StoreTransaction
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
        // Many may listen to one query: it is run once.
        var rowsByQuery: [Query: [Document]] = [:]
        for target in core.listens.windowedTargets(touchedBy: differences, in: database) {
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

    /// A write that changes nothing is billed like any other.
    private func count(_ mutations: [Mutation], _ context: CallContext) {
        var usages: [CollectionPath: Usage] = [:]
        for mutation in mutations {
            let usage =
                switch mutation.operation {
                case .set, .patch: Usage(writes: 1)
                case .delete: Usage(deletes: 1)
                case .verify: Usage(reads: core.configuration.billing.verifyReads)
                }
            usages[mutation.path.parent, default: Usage()] += usage
        }
        for (collection, usage) in usages {
            bills.append(
                Bill(context: context, method: method, collection: collection, usage: usage))
        }
    }
}
