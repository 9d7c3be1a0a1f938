import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// Removes every document of a database in one commit, tells the listens of each that they had, and
    /// forgets the history with it: what is read or resumed from before finds the log too short. Costs
    /// what the tables cost to empty, and what the listens hold; the documents are not looked at.
    /// Its transactions are over: what they have locked is gone.
    ///
    /// - Throws: ``StoreError``, with nothing changed.
    func clear(_ database: DatabaseID) throws -> [Output] {
        guard var state = databases[database], let row = state.rowID else { return [] }
        let time = Timestamp(microseconds: state.takeCommitTime(now: now))
        let targets = listens.targets(in: database)
        let members = try store.write(.disk) { transaction in
            let scope = latestScope(database, transaction)
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
        databases[database] = state
        for id in transactions.ids(in: database) { endTransaction(id, .rolledBack) }
        return tellOfClearing(zip(targets, members), time)
    }

    private func tellOfClearing(
        _ targets: some Sequence<(LiveTarget, [DocumentPath])>, _ time: Timestamp
    ) -> [Output] {
        var snapshots: [CallID: StreamSnapshot] = [:]
        for (target, paths) in targets {
            if target.window != nil { target.window = [:] }
            for path in paths {
                snapshots[target.streamID, default: StreamSnapshot()]
                    .remove(path, changedTo: nil, from: target)
            }
        }
        var outputs: [Output] = []
        for (streamID, snapshot) in snapshots.sorted(by: { $0.key < $1.key }) {
            emit(snapshot, streamID, time, &outputs)
        }
        return outputs
    }
}
