import TidemarkModel
import TidemarkStore

extension WriteStage {
    /// Who asks for the locks of a commit. Where it is refused its transaction is over.
    func claimant(
        _ id: TransactionID?, _ database: DatabaseID, hasWrites: Bool
    ) throws -> LockClaimant {
        guard let id else { return .plain }
        guard endedTransactions[id] == nil else { throw TransactionTable.expired }
        let open = try core.transactions.use(id, database: database, now: core.now)
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

    /// The transaction is over, with the batch: its locks are free for what comes after it there.
    private func end(_ id: TransactionID, _ ending: TransactionTable.Ending) {
        endedTransactions[id] = ending
        if let owner = core.releaseLocks(of: id) { released.append((id, owner)) }
    }

    /// What the mutations make of the documents, once nobody else has locked any of them. Whatever
    /// comes of it then, the transaction is over.
    ///
    /// - Throws: ``LockWait`` when the commit must wait, even one that would be refused as things are;
    ///   ``RPCStatus``, ``StoreError``.
    func granted(
        _ mutations: [Mutation], _ database: DatabaseID, _ time: Timestamp,
        _ transaction: StoreTransaction, _ claimant: LockClaimant
    ) throws -> PreparedCommit {
        guard core.locks.concerns(database) else {
            if case .transaction(let id, _) = claimant { end(id, .rolledBack) }
            return try prepare(mutations, database, time, transaction)
        }
        let outcome: Result<PreparedCommit, RPCStatus>
        do {
            outcome = .success(try prepare(mutations, database, time, transaction))
        } catch let status as RPCStatus {
            outcome = .failure(status)
        }
        let changes =
            (try? outcome.get())?.draft.lockedChanges
            ?? mutations.filter { $0.operation != .verify }.map {
                LockedChange(path: $0.path, before: nil, after: nil)
            }
        if let ticket = try core.lock(
            .write(changes), database, claimant, again: retrying?.ticket)
        {
            throw LockWait(ticket: ticket)
        }
        if case .transaction(let id, _) = claimant { end(id, .rolledBack) }
        return try outcome.get()
    }

    /// Whether anything that an optimistic transaction has read has changed.
    private func hasConflict(_ open: TransactionTable.Open) throws -> Bool {
        guard let transaction else { return true }
        let table = transaction.documents(of: open.database)
        for (path, version) in open.versions {
            if try table.document(at: path)?.updateTime != version { return true }
        }
        guard let state = databases[open.database], let row = state.rowID else { return false }
        let log = ChangeLog(database: row, documents: table)
        for (query, readTime) in open.queries {
            // What the log has forgotten may have been a conflict.
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
}
