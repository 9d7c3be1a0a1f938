import TidemarkModel
import TidemarkStore

extension LocalStore {
    /// Puts mutations into the durable queue. Costs a sync of the disk.
    ///
    /// - Returns: The batch, and the documents as they look now.
    func enqueue(
        _ mutations: [Mutation], at time: Timestamp
    ) throws -> (batch: MutationBatch, changed: [LocalDocument]) {
        precondition(!mutations.isEmpty)
        let time = time.truncatedToMicroseconds
        let batch = try store.write(.disk) { transaction in
            let base = try baseMutations(for: mutations, transaction)
            try transaction.execute(
                "INSERT INTO syncBatch (localWriteTime, baseMutations, mutations) VALUES (?, ?, ?)",
                [
                    .integer(time.microseconds), .blob(MutationCodec.encode(base)),
                    .blob(MutationCodec.encode(mutations)),
                ])
            return MutationBatch(
                id: transaction.lastInsertedRowID, localWriteTime: time, baseMutations: base,
                mutations: mutations)
        }
        pending.append(batch)
        return (batch, try documents(at: batch.paths))
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
        try store.write { transaction in
            let table = transaction.documents(of: database)
            for path in batch.paths {
                let base = try table.document(at: path)
                if let new = outcome(of: batch, at: path, base, results, commitTime) {
                    try table.put(new)
                }
            }
            try removeBatch(batch.id, transaction)
            if position != writePosition { try save(position, transaction) }
        }
        writePosition = position
        return try forget(batch)
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
    /// what follows was not done, so the next stream is a new one.
    func reject(_ batch: MutationBatch) throws -> [LocalDocument] {
        try store.write(.disk) { transaction in
            try removeBatch(batch.id, transaction)
            try save(nil, transaction)
        }
        writePosition = nil
        return try forget(batch)
    }

    private func removeBatch(_ id: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute("DELETE FROM syncBatch WHERE id = ?", [.integer(id)])
    }

    private func forget(_ batch: MutationBatch) throws -> [LocalDocument] {
        pending.remove(batch.id)
        return try documents(at: batch.paths)
    }

    func documents(at paths: [DocumentPath]) throws -> [LocalDocument] {
        try store.read { transaction in
            try paths.map { try document(at: $0, transaction) }
        }
    }
}

// MARK: - The write stream's position

extension LocalStore {
    /// To be called before a batch is sent on the stream. Costs a sync of the disk when it is news.
    func keep(_ position: WritePosition?) throws {
        if position == writePosition { return }
        try store.write(.disk) { try save(position, $0) }
        writePosition = position
    }

    private func save(
        _ position: WritePosition?, _ transaction: StoreTransaction
    ) throws(StoreError) {
        guard let position else {
            return try transaction.execute("DELETE FROM syncWritePosition")
        }
        try transaction.execute(
            "INSERT OR REPLACE INTO syncWritePosition VALUES (1, ?, ?)",
            [.text(position.streamID), .blob(position.token)])
    }

    func storedWritePosition(_ transaction: StoreTransaction) throws(StoreError) -> WritePosition? {
        try transaction.rows("SELECT stream, token FROM syncWritePosition").first.flatMap {
            WritePosition(streamID: $0.text(0), token: $0.blob(1))
        }
    }
}
