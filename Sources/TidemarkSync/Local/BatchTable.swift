import TidemarkModel
import TidemarkStore

/// The rows of `syncBatch` of one user: the batches that wait for the server.
struct BatchTable {
    let user: String?

    static let unreadable = RPCStatus(
        .dataLoss, "The write could not be read back from the disk.")

    /// The queue as the disk has it.
    struct Queue {
        var pending = PendingWrites()
        /// The rows that cannot be read.
        var damaged: [SQLRow] = []
        /// The held batches that wait for no file, in order.
        var withoutFiles: [Int64] = []
    }

    /// Reads the queue in one pass. The mutations are checked, and decoded later.
    func queue(_ transaction: StoreTransaction) throws -> Queue {
        var queue = Queue()
        var batches: [WaitingBatch] = []
        var turns = try TurnTable.inOrder(transaction)[...]
        // A batch with files has a turn.
        var files =
            try turns.isEmpty ? [] : FileTable(user: user).batchesInOrder(transaction)[...]
        try transaction.visitRows(
            """
            SELECT id, localWriteTime, baseMutations, mutations FROM syncBatch WHERE user = ?
            ORDER BY id
            """, [.blob(UserKey(user).bytes)]
        ) { row in
            let id = try row.integer(0)
            turns.dropPrefix { $0.batch < id }
            files.dropPrefix { $0.batch < id }
            let turn = turns.first.flatMap { $0.batch == id ? $0.turn : nil }
            let ofBatch = files.first.flatMap { $0.batch == id ? $0 : nil }
            // A document must not be sent without its file.
            let lacksFiles = turn == .awaitsFiles && ofBatch == nil
            guard !lacksFiles, let batch = try Self.batch(id, row, turn) else {
                return queue.damaged.append(row.copy(columns: 4))
            }
            if batch.isHeld, ofBatch?.isAwaited != true { queue.withoutFiles.append(id) }
            batches.append(batch)
        }
        queue.pending = PendingWrites(batches)
        return queue
    }

    /// - Returns: Nil if the mutations cannot be read.
    private static func batch(
        _ id: Int64, _ row: SQLRowInPlace, _ turn: BatchTurn?
    ) throws -> WaitingBatch? {
        guard let base = try? row.bytes(2), let mutations = try? row.bytes(3) else { return nil }
        let time = try Timestamp(microseconds: row.integer(1))
        return try? WaitingBatch(
            id: id, localWriteTime: time, encodedBase: base, encoded: mutations, turn: turn)
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

extension ArraySlice {
    /// Removes the elements before the first one that does not satisfy `isGone`.
    fileprivate mutating func dropPrefix(while isGone: (Element) -> Bool) {
        var start = startIndex
        while start < endIndex, isGone(self[start]) { start += 1 }
        self = self[start...]
    }
}
