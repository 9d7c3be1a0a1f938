import TidemarkModel
import TidemarkStore

/// The mutation queue of one user: on disk and in memory, with the write stream's position and what the
/// server refused. Whoever wants to know how a document looks asks here, because pending writes decide.
final class LocalQueue {
    private let file: LocalFile
    private let targets: TargetTable
    /// Whose queue of writes it is.
    private(set) var user: String?
    private(set) var pending = PendingWrites()
    /// Of the stream on which the head of the queue was sent, if it was. As it is on disk.
    private(set) var writePosition: WritePosition?
    /// Taken out of the sequence on disk for the next batches.
    private var batchNumbers: Range<Int64> = 0..<0
    /// Of the user.
    private(set) var rejectedCount = 0
    /// Whether it is noted what became of batches, for a process that does not see it happen.
    var notesFates = false

    /// Does not read it: see ``load()``.
    init(_ file: LocalFile, _ targets: TargetTable, user: String?) {
        self.file = file
        self.targets = targets
        self.user = user
    }

    private var rejected: RejectedTable { RejectedTable(user: user) }

    // MARK: Documents as pending writes change them

    func document(
        at path: DocumentPath, _ transaction: StoreTransaction
    ) throws -> LocalDocument {
        if let overlay = pending.overlay(of: path) { return overlay }
        let base = try transaction.documents(of: file.database).document(at: path)
        return pending.view(of: path, over: base)
    }

    /// How a document looks over what is stored of it.
    func view(of path: DocumentPath, over base: StoredDocument?) -> LocalDocument {
        pending.view(of: path, over: base)
    }

    /// A document that changed, and what is stored of it now.
    typealias Change = (path: DocumentPath, stored: StoredDocument?)

    /// How documents look whose stored versions have changed.
    func views(of changed: [Change]) -> [LocalDocument] {
        if pending.isEmpty {
            return changed.map { change in
                change.stored.map(LocalDocument.init) ?? LocalDocument(unknown: change.path)
            }
        }
        for change in changed { pending.forgetOverlay(of: change.path) }
        return changed.map { pending.view(of: $0.path, over: $0.stored) }
    }

    #if TIDEMARK_DEFECTS
        func keepsOverlays(_ isPlanted: Bool) { pending.keepsOverlays = isPlanted }
        func keepOverlays(of other: LocalQueue) { pending.keepOverlays(of: other.pending) }
    #endif

    // MARK: Writes

    /// Puts mutations into the durable queue. Costs a sync of the disk, unless they are kept elsewhere until
    /// there is one.
    ///
    /// - Parameters:
    ///   - inPlaceOf: A rejected batch that is forgotten in the same step.
    ///   - note: What is noted in the same step.
    /// - Returns: The batch, and the documents as they look now.
    func enqueue(
        _ mutations: [Mutation], at time: Timestamp, _ durability: DocumentStore.Durability = .disk,
        inPlaceOf rejected: Int64? = nil,
        noting note: BatchNote? = nil
    ) throws -> (batch: MutationBatch, changed: [LocalDocument]) {
        precondition(!mutations.isEmpty)
        let time = time.truncatedToMicroseconds
        let contents = mutations.count == 1 ? mutations[0].plainContents : nil
        var numbers = batchNumbers
        let (batch, bases): (MutationBatch, [Base]) = try file.write(.writeLocally, durability) {
            transaction in
            if numbers.isEmpty { numbers = try takeBatchNumbers(transaction) }
            let base = try baseMutations(for: mutations, transaction)
            if let rejected { try self.rejected.discard(rejected, transaction) }
            try note?.write(of: numbers.lowerBound, transaction)
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

    /// Whether numbers were taken that no batch has.
    var hasBatchNumbers: Bool { !batchNumbers.isEmpty }

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
        let table = transaction.documents(of: file.database)
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
        let bases = try file.write(.acknowledgeBatch) { transaction in
            let table = transaction.documents(of: file.database)
            for path in batch.paths {
                let base = try table.document(at: path)
                if let new = outcome(of: batch, at: path, base, results, commitTime) {
                    try table.put(new)
                }
            }
            try removeBatch(batch.id, transaction)
            if notesFates { try SharedBatches.note(batch.id, committed: commitTime, transaction) }
            try LooseDocuments.touch(
                batch.paths, at: targets.nextSequence, transaction)
            if position != writePosition { try save(position, transaction) }
            return try storedBases(of: batch, transaction)
        }
        targets.countUse()
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
        let bases: [Base] = try file.write(.rejectBatch, .disk) { transaction in
            try removeBatch(batch.id, transaction)
            try rejected.keep(batch, reason, at: time, transaction)
            rejectedCount = try rejected.count(transaction)
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

    // MARK: Writes that were refused

    func rejectedWrites() throws -> [RejectedWrite] {
        try file.read { try rejected.all($0) }
    }

    func discardRejected(_ id: Int64) throws {
        rejectedCount = try file.write(.discardRejected, .disk) { transaction in
            try rejected.discard(id, transaction)
            return try rejected.count(transaction)
        }
    }

    /// Sets a message aside that another process left and nobody can read, as a refused write without
    /// contents.
    func refuse(unreadable name: String, at time: Timestamp) throws {
        var numbers = batchNumbers
        rejectedCount = try file.write(.rejectBatch, .disk) { transaction in
            if numbers.isEmpty { numbers = try takeBatchNumbers(transaction) }
            try BatchNote.shared(name).write(of: numbers.lowerBound, transaction)
            try rejected.keep(
                numbers.lowerBound, time.microseconds, [], Self.unreadable, at: time, transaction)
            return try rejected.count(transaction)
        }
        batchNumbers = numbers.dropFirst()
    }

    private static let unreadable = RPCStatus(
        .dataLoss, "The write could not be read back from the disk.")

    // MARK: Other processes

    /// - Returns: The number of the batch that another process left under this name; nil for one that is not
    ///   in the queue, and was not.
    func number(ofShared name: String) throws -> Int64? {
        try file.read { try SharedBatches.number(of: name, $0) }
    }

    /// What became of a batch, also where another process sent it.
    func fate(of batch: Int64) throws -> BatchFate {
        if pending.batch(batch) != nil { return .pending }
        return try file.read { transaction in
            if let time = try SharedBatches.commitTime(of: batch, transaction) {
                return .committed(time)
            }
            return try rejected.reason(of: batch, transaction).map(BatchFate.rejected) ?? .unknown
        }
    }

    // MARK: The write stream's position

    /// To be called before a batch is sent on the stream. Costs a sync of the disk when it is news.
    func keep(_ position: WritePosition?) throws {
        if position == writePosition { return }
        try file.write(.keepWritePosition, .disk) { try save(position, $0) }
        writePosition = position
    }

    private func save(
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

    private func storedWritePosition(
        of user: String?, _ transaction: StoreTransaction
    ) throws(StoreError) -> WritePosition? {
        try transaction.rows(
            "SELECT stream, token FROM syncStreamPosition WHERE user = ?",
            [.blob(UserKey(user).bytes)]
        ).first.flatMap { row throws(StoreError) in
            try WritePosition(streamID: row.text(0), token: row.blob(1))
        }
    }

    // MARK: Loading

    func loadPosition(_ transaction: StoreTransaction) throws {
        writePosition = try storedWritePosition(of: user, transaction)
    }

    /// Reads the queue. A batch that cannot be read is set aside, so that it keeps nobody from the others.
    func load() throws {
        let (queue, damaged, count) = try file.store.read(label: StorageStep.open.rawValue) {
            transaction in
            let (queue, damaged) = try storedQueue(of: user, transaction)
            return (queue, damaged, try rejected.count(transaction))
        }
        pending = queue
        rejectedCount = count
        guard !damaged.isEmpty else { return }
        rejectedCount = try file.store.write(.disk, label: StorageStep.open.rawValue) {
            transaction in
            try setAside(damaged, of: user, transaction)
            return try rejected.count(transaction)
        }
    }

    private func setAside(_ damaged: [SQLRow], of user: String?, _ transaction: StoreTransaction)
        throws
    {
        for row in damaged {
            try RejectedTable(user: user).keep(
                row.integer(0), row.integer(1), row.blob(3), Self.unreadable,
                at: Timestamp(microseconds: row.integer(1)), transaction)
            try transaction.execute("DELETE FROM syncBatch WHERE id = ?", [row.values[0]])
        }
    }

    private func storedQueue(
        of user: String?, _ transaction: StoreTransaction
    ) throws -> (PendingWrites, damaged: [SQLRow]) {
        var pending = PendingWrites()
        var damaged: [SQLRow] = []
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
            try pending.append(
                MutationBatch(
                    id: row.integer(0), localWriteTime: Timestamp(microseconds: row.integer(1)),
                    baseMutations: base, mutations: mutations))
        }
        return (pending, damaged)
    }

    /// Puts a saved queue into a new file.
    ///
    /// - Parameter position: Of the write stream on which the head of the queue was sent.
    func restore(_ saved: SavedQueue, _ position: WritePosition?) throws {
        try file.write(.open, .disk) { transaction in
            for row in saved.batches {
                try transaction.execute(
                    "INSERT INTO syncBatch (\(SavedQueue.batchColumns)) VALUES (?, ?, ?, ?, ?)", row
                )
            }
            for row in saved.rejected {
                try transaction.execute(
                    """
                    INSERT INTO syncRejected (\(SavedQueue.rejectedColumns))
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """, row)
            }
            for row in saved.marks {
                try transaction.execute("INSERT OR REPLACE INTO syncRecord VALUES (?, ?)", row)
            }
            for row in saved.shared {
                try transaction.execute("INSERT OR REPLACE INTO syncShared VALUES (?, ?)", row)
            }
            try save(position, transaction)
        }
        writePosition = position
        batchNumbers = 0..<0
        try load()
    }

    /// Where users share the cache: takes up another one's queue.
    ///
    /// - Returns: The documents with pending writes of either, as they look now.
    func changeUser(to next: String?) throws -> [LocalDocument] {
        var bases: [(DocumentPath, StoredDocument?)] = []
        let (queue, position) = try file.write(.handleUserChange) { transaction in
            let (queue, damaged) = try storedQueue(of: next, transaction)
            try setAside(damaged, of: next, transaction)
            rejectedCount = try RejectedTable(user: next).count(transaction)
            let paths = Set(pending.batches.flatMap(\.paths) + queue.batches.flatMap(\.paths))
            let table = transaction.documents(of: file.database)
            bases = try paths.sorted().map { path in (path, try table.document(at: path)) }
            return (queue, try storedWritePosition(of: next, transaction))
        }
        user = next
        pending = queue
        writePosition = position
        return bases.map { pending.view(of: $0.0, over: $0.1) }
    }
}
