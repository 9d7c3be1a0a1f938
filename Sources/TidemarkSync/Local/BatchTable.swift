import TidemarkModel
import TidemarkStore

/// The rows of `syncBatch` of one user: the batches that wait for the server.
struct BatchTable {
    let user: String?

    static let unreadable = RPCStatus(
        .dataLoss, "The write could not be read back from the disk.")

    /// Returns the queue, and the rows that cannot be read.
    func queue(_ transaction: StoreTransaction) throws -> (PendingWrites, damaged: [SQLRow]) {
        var pending = PendingWrites()
        var damaged: [SQLRow] = []
        let turns = try TurnTable.all(transaction)
        let withFiles =
            turns.isEmpty ? [] : try FileTable(user: user).batchesWithFiles(transaction)
        for row in try transaction.rows(
            """
            SELECT id, localWriteTime, baseMutations, mutations FROM syncBatch WHERE user = ?
            ORDER BY id
            """, [.blob(UserKey(user).bytes)])
        {
            guard let base = try? MutationCodec.decode(row.blob(2)),
                let mutations = try? MutationCodec.decode(row.blob(3)), !mutations.isEmpty
            else {
                damaged.append(row)
                continue
            }
            let id = try row.integer(0)
            // A document must not be sent without its file.
            if turns[id] == .awaitsFiles, !withFiles.contains(id) {
                damaged.append(row)
                continue
            }
            try pending.append(
                MutationBatch(
                    id: id, localWriteTime: Timestamp(microseconds: row.integer(1)),
                    baseMutations: base, mutations: mutations), turn: turns[id])
        }
        return (pending, damaged)
    }

    /// - Parameter contents: The contents of the only mutation, if they are encoded already.
    func add(
        _ batch: MutationBatch, contents: EncodedFields?, _ transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            """
            INSERT INTO syncBatch (id, user, localWriteTime, baseMutations, mutations)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .integer(batch.id), .blob(UserKey(user).bytes),
                .integer(batch.localWriteTime.microseconds),
                .blob(MutationCodec.encode(batch.baseMutations)),
            ], last: MutationCodec.encode(batch.mutations, contents))
    }

    /// Stores other mutations for a batch that was never sent.
    func replace(_ batch: MutationBatch, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            "UPDATE syncBatch SET mutations = ? WHERE id = ?",
            [.blob(MutationCodec.encode(batch.mutations)), .integer(batch.id)])
    }

    /// Moves unreadable rows to the refused writes, so they do not block the others.
    func setAside(_ damaged: [SQLRow], _ transaction: StoreTransaction) throws {
        for row in damaged {
            try RejectedTable(user: user).keep(
                row.integer(0), localWriteTime: row.integer(1), mutations: row.blob(3),
                reason: Self.unreadable,
                at: Timestamp(microseconds: row.integer(1)), transaction: transaction)
            try transaction.execute("DELETE FROM syncBatch WHERE id = ?", [row.values[0]])
            try TurnTable.remove(row.integer(0), transaction)
            try FileTable(user: user).batchIsRejected(row.integer(0), transaction)
            // The document may exist, so its files are sent.
            try FileTable(user: user).documentIsSent(row.integer(0), transaction)
        }
    }
}
