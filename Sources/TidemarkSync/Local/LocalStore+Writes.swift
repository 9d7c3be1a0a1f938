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
    func acknowledge(
        _ batch: MutationBatch, _ results: [MutationResult], commitTime: Timestamp
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
        }
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

    /// Takes a batch that the server refused out of the queue.
    func reject(_ batch: MutationBatch) throws -> [LocalDocument] {
        try store.write(.disk) { try removeBatch(batch.id, $0) }
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
