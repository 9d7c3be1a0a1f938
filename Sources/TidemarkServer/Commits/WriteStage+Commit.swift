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
        record: (CommitReply, Int64, StoreTransaction) throws -> Void = { _, _, _ in }
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
            let reply = CommitReply(results: draft.results, commitTime: time)
            let commit = try transaction.savepoint {
                let commit = try store(draft.draft.differences, database, row, time, transaction)
                try record(reply, row, transaction)
                return commit
            }
            commits.append(commit)
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
        var transformResults: [[Value]] = []
        transformResults.reserveCapacity(mutations.count)
        for mutation in mutations {
            let result = try draft.apply(mutation) { try table.document(at: $0)?.document }
            transformResults.append(result)
        }
        try draft.validateIndexEntries(core.indexes.configuration)
        let versions = draft.versions
        let results = zip(mutations, transformResults).map { mutation, transforms in
            let isDelete = mutation.operation == .delete
            return MutationResult(
                updateTime: isDelete ? nil : versions[mutation.path], transformResults: transforms)
        }
        return PreparedCommit(draft: draft, results: results)
    }

    /// Writes the documents and their log rows, and looks at the windows they may have moved.
    private func store(
        _ differences: [DocumentDifference], _ database: DatabaseID, _ row: Int64,
        _ time: Timestamp, _ transaction: StoreTransaction
    ) throws -> Commit {
        let table = transaction.documents(of: database)
        let log = ChangeLog(transaction: transaction, database: row)
        for difference in differences {
            if let after = difference.after {
                try table.put(StoredDocument(after, readTime: after.updateTime))
            } else {
                try table.remove(difference.path)
            }
            try log.append(time, difference.path, previous: difference.before)
        }
        var windows: [(target: LiveTarget, rows: [Document])] = []
        // Many may listen to one query: it is run once.
        var rowsByQuery: [Query: [Document]] = [:]
        for target in core.listens.windowedTargets(touchedBy: differences, in: database) {
            guard case .query(let query) = target.kind else { continue }
            let rows = try rowsByQuery[query] ?? table.run(query).documents.compactMap(\.document)
            rowsByQuery[query] = rows
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
