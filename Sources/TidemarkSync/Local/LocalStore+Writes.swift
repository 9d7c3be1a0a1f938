import TidemarkModel
import TidemarkStore

extension LocalStore {
    /// Puts mutations into the durable queue. Costs a sync of the disk.
    ///
    /// - Parameter inPlaceOf: A rejected batch that is forgotten in the same step.
    /// - Returns: The batch, and the documents as they look now.
    func enqueue(
        _ mutations: [Mutation], at time: Timestamp, inPlaceOf rejected: Int64? = nil
    ) throws -> (batch: MutationBatch, changed: [LocalDocument]) {
        precondition(!mutations.isEmpty)
        let time = time.truncatedToMicroseconds
        let contents = mutations.count == 1 ? mutations[0].plainContents : nil
        var numbers = batchNumbers
        let (batch, bases): (MutationBatch, [Base]) = try write(.writeLocally, .disk) {
            transaction in
            if numbers.isEmpty { numbers = try takeBatchNumbers(transaction) }
            let base = try baseMutations(for: mutations, transaction)
            if let rejected { try discardRejected(rejected, transaction) }
            try transaction.execute(
                """
                INSERT INTO syncBatch (id, user, localWriteTime, baseMutations, mutations)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .integer(numbers.lowerBound), .blob(UserKey(user).bytes),
                    .integer(time.microseconds), .blob(MutationCodec.encode(base)),
                ], last: MutationCodec.encode(mutations, contents))
            let batch = MutationBatch(
                id: numbers.lowerBound, localWriteTime: time, baseMutations: base,
                mutations: mutations)
            return (batch, try storedBases(of: batch, transaction))
        }
        batchNumbers = numbers.dropFirst()
        pending.append(batch)
        if rejected != nil { rejectedCount -= 1 }
        return (
            batch, bases.map { pending.view(of: $0.path, over: $0.stored, newest: contents) }
        )
    }

    /// A number is never given twice, so the last one is on disk; it lies on a page of its own, which would
    /// go into the log with every write. Those that a killed process has left are no batch's. Of a queue that
    /// was saved from a damaged file only the numbers of its batches are known.
    private func takeBatchNumbers(_ transaction: StoreTransaction) throws -> Range<Int64> {
        let last = try transaction.rows(
            """
            SELECT max(COALESCE((SELECT value FROM syncGlobal WHERE name = 'lastBatch'), 0),
                COALESCE((SELECT max(id) FROM syncBatch), 0),
                COALESCE((SELECT max(id) FROM syncRejected), 0))
            """)[0].integer(0)
        let end = last + 1 + Self.batchNumbersAtOnce
        try saveLastBatchNumber(end - 1, transaction)
        return (last + 1)..<end
    }

    func giveBackBatchNumbers(_ transaction: StoreTransaction) throws {
        guard let next = batchNumbers.first else { return }
        try saveLastBatchNumber(next - 1, transaction)
    }

    private func saveLastBatchNumber(_ number: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO syncGlobal VALUES ('lastBatch', ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """, [.integer(number)])
    }

    private static let batchNumbersAtOnce: Int64 = 100

    private typealias Base = (path: DocumentPath, stored: StoredDocument?)

    /// Read inside the transaction: once that is through, nothing is left that could fail.
    private func storedBases(
        of batch: MutationBatch, _ transaction: StoreTransaction
    ) throws -> [Base] {
        let table = transaction.documents(of: database)
        return try batch.paths.map { path in (path, try table.document(at: path)) }
    }

    private func views(over bases: [Base]) -> [LocalDocument] {
        bases.map { pending.view(of: $0.path, over: $0.stored) }
    }

    private func baseMutations(
        for mutations: [Mutation], _ transaction: StoreTransaction
    ) throws -> [Mutation] {
        try mutations.filter { !$0.transforms.isEmpty }.compactMap { mutation in
            MutationBatch.baseMutations(
                for: mutation, on: try document(at: mutation.path, transaction))
        }
    }

    /// Takes an acknowledged batch out of the queue and its outcome into the cache.
    ///
    /// - Parameter position: The stream's after this batch. Stored with it, so that the answers after
    ///   it, and only those, are to the batches that are left.
    func acknowledge(
        _ batch: MutationBatch, _ results: [MutationResult], commitTime: Timestamp,
        position: WritePosition? = nil
    ) throws -> [LocalDocument] {
        let bases = try write(.acknowledgeBatch) { transaction in
            let table = transaction.documents(of: database)
            for path in batch.paths {
                let base = try table.document(at: path)
                if let new = outcome(of: batch, at: path, base, results, commitTime) {
                    try table.put(new)
                }
            }
            try removeBatch(batch.id, transaction)
            try touch(batch.paths, transaction)
            if position != writePosition { try save(position, transaction) }
            return try storedBases(of: batch, transaction)
        }
        nextSequence += 1
        writePosition = position
        pending.remove(batch.id)
        return views(over: bases)
    }

    /// Nil when the cache has it already, or nothing changed.
    private func outcome(
        of batch: MutationBatch, at path: DocumentPath, _ base: StoredDocument?,
        _ results: [MutationResult], _ commitTime: Timestamp
    ) -> StoredDocument? {
        var document = base
        var hasChanged = false
        for (mutation, result) in zip(batch.mutations, results) where mutation.path == path {
            let version = result.updateTime ?? commitTime
            if let base, base.updateTime >= version { return nil }
            guard
                let new = mutation.acknowledged(on: document, result, commitTime: commitTime)
            else { continue }
            document = new
            hasChanged = true
        }
        return hasChanged ? document : nil
    }

    /// Takes a batch that the server refused out of the queue. All before it were acknowledged and
    /// what follows was not done, so the next stream is a new one. It is kept with the reason.
    func reject(
        _ batch: MutationBatch, _ reason: RPCStatus, at time: Timestamp
    ) throws -> [LocalDocument] {
        let bases: [Base] = try write(.rejectBatch, .disk) { transaction in
            try removeBatch(batch.id, transaction)
            try keepRejected(batch, reason, at: time, transaction)
            rejectedCount = try countRejected(transaction)
            try save(nil, transaction)
            return try storedBases(of: batch, transaction)
        }
        writePosition = nil
        pending.remove(batch.id)
        return views(over: bases)
    }

    private func removeBatch(_ id: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute("DELETE FROM syncBatch WHERE id = ?", [.integer(id)])
    }

    func documents(at paths: [DocumentPath]) throws -> [LocalDocument] {
        try read { transaction in
            try paths.map { try document(at: $0, transaction) }
        }
    }
}

// MARK: - The write stream's position

extension LocalStore {
    /// To be called before a batch is sent on the stream. Costs a sync of the disk when it is news.
    func keep(_ position: WritePosition?) throws {
        if position == writePosition { return }
        try write(.keepWritePosition, .disk) { try save(position, $0) }
        writePosition = position
    }

    func save(
        _ position: WritePosition?, _ transaction: StoreTransaction
    ) throws(StoreError) {
        let owner = SQLValue.blob(UserKey(user).bytes)
        guard let position else {
            return try transaction.execute(
                "DELETE FROM syncStreamPosition WHERE user = ?", [owner])
        }
        try transaction.execute(
            "INSERT OR REPLACE INTO syncStreamPosition VALUES (?, ?, ?)",
            [owner, .text(position.streamID), .blob(position.token)])
    }

    func storedWritePosition(
        of user: String?, _ transaction: StoreTransaction
    ) throws(StoreError) -> WritePosition? {
        try transaction.rows(
            "SELECT stream, token FROM syncStreamPosition WHERE user = ?",
            [.blob(UserKey(user).bytes)]
        ).first.flatMap { row throws(StoreError) in
            try WritePosition(streamID: row.text(0), token: row.blob(1))
        }
    }
}
