import TidemarkModel
import TidemarkStore

extension WriteStage {
    /// Checks that what a transaction has read still holds, so that its commit may go on. Whatever
    /// comes of it, the transaction is over.
    func validate(
        _ id: TransactionID, _ database: DatabaseID, hasWrites: Bool
    ) throws {
        guard endedTransactions[id] == nil else { throw TransactionTable.expired }
        let open = try core.transactions.use(id, database: database, now: core.now)
        endedTransactions[id] = .rolledBack
        if open.isReadOnly {
            if hasWrites {
                throw RPCStatus.invalidArgument(
                    "Cannot modify entities in a read-only transaction")
            }
            return
        }
        if try hasConflict(open) { throw TransactionTable.contention }
    }

    private func hasConflict(_ open: TransactionTable.Open) throws -> Bool {
        guard let transaction else { return true }
        let table = transaction.documents(of: open.database)
        for (path, version) in open.versions {
            if try table.document(at: path)?.updateTime != version { return true }
        }
        guard let state = databases[open.database], let row = state.rowID else { return false }
        let log = ChangeLog(transaction: transaction, database: row)
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
