import TidemarkModel
import TidemarkStore

/// The mutation queue of one user, on disk and in memory, with the position of the write stream and
/// the refused writes. It also answers how a document looks, because pending writes decide that.
final class LocalQueue {
    private let file: LocalFile
    private let targets: TargetTable
    /// The user who made the writes.
    private(set) var user: String?
    private(set) var pending = PendingWrites()
    /// The position of the stream on which the head of the queue was sent, as stored on disk; nil
    /// if it was not sent.
    private(set) var writePosition: WritePosition?
    /// The numbers for the next batches, already taken from the sequence on disk.
    private var batchNumbers: Range<Int64> = 0..<0
    /// The number of the user's refused batches.
    private(set) var rejectedCount = 0
    /// True if the queue stores the outcome of batches, for a process that does not see the
    /// outcome.
    var notesFates = false
    /// The batches whose acknowledgement lets objects be deleted.
    private var deleting: Set<Int64> = []
    #if TIDEMARK_DEFECTS
        var planted: FileDefect?
    #endif

    /// Creates a queue and does not read it from disk; ``load()`` does.
    init(_ file: LocalFile, _ targets: TargetTable, user: String?) {
        self.file = file
        self.targets = targets
        self.user = user
    }

    private var rejected: RejectedTable { RejectedTable(user: user) }
    private var files: FileTable { FileTable(user: user) }
    private var batches: BatchTable { BatchTable(user: user) }
    private var positions: PositionTable { PositionTable(user: user) }

    // MARK: Documents as pending writes change them

    func document(
        at path: DocumentPath, _ transaction: StoreTransaction
    ) throws -> LocalDocument {
        if let overlay = pending.overlay(of: path) { return overlay }
        let base = try transaction.documents(of: file.database).document(at: path)
        return pending.view(of: path, over: base)
    }

    /// Returns how a document looks over its stored version.
    func view(of path: DocumentPath, over base: StoredDocument?) -> LocalDocument {
        pending.view(of: path, over: base)
    }

    /// A document that changed, and its stored version now.
    typealias Change = (path: DocumentPath, stored: StoredDocument?)

    /// Returns how the documents look after their stored versions changed.
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

    /// Adds mutations to the durable queue. This costs a sync of the disk, unless another store
    /// keeps the mutations until a sync.
    ///
    /// - Parameters:
    ///   - inPlaceOf: A rejected batch that the same step forgets.
    ///   - note: The note that the same step stores.
    ///   - attached: The files that the batch waits for, stored in the same step. Those with a
    ///     completion get a second batch behind this one.
    ///   - deleted: The fields whose objects are deleted when the batch is acknowledged.
    /// - Returns: The batch, and how the documents look now.
    func enqueue(
        _ mutations: [Mutation], at time: Timestamp, _ durability: DocumentStore.Durability = .disk,
        inPlaceOf rejected: Int64? = nil,
        noting note: BatchNote? = nil, attaching attached: [AttachedFile] = [],
        deleting deleted: [DeletedFile] = []
    ) throws -> (batch: MutationBatch, changed: [LocalDocument]) {
        precondition(!mutations.isEmpty)
        let time = time.truncatedToMicroseconds
        let contents = mutations.count == 1 ? mutations[0].plainContents : nil
        let before = attached.filter { $0.completion == nil }
        let after = attached.filter { $0.completion != nil }
        let count = after.isEmpty ? 1 : 2
        let turn = self.turn(of: mutations, before)
        var numbers = batchNumbers
        let (batch, follower, bases): (MutationBatch, MutationBatch?, [Base]) = try file.write(
            .writeLocally, durability
        ) { transaction in
            if numbers.count < count { numbers = try BatchNumbers.take(transaction) }
            let base = try baseMutations(for: mutations, transaction)
            var fields = deleted
            if let rejected {
                fields += try files.deleted(by: rejected, transaction)
                try self.rejected.discard(rejected, transaction)
                try files.batch(rejected, isReplacedBy: numbers.lowerBound, transaction)
            }
            try note?.write(of: numbers.lowerBound, transaction)
            if let turn { try TurnTable.set(turn, of: numbers.lowerBound, transaction) }
            try files.add(before, of: numbers.lowerBound, transaction)
            let batch = MutationBatch(
                id: numbers.lowerBound, localWriteTime: time, baseMutations: base,
                mutations: mutations)
            try batches.add(batch, contents: contents, transaction)
            let bases = try storedBases(of: batch, transaction)
            try files.add(
                removals: try files.objects(
                    in: fields, under: pending, of: file.database, transaction),
                of: isPlanted(.removedBeforeDocument) ? 0 : batch.id, transaction)
            try files.add(deleted: deleted, of: batch.id, transaction)
            let follower = try after.isEmpty ? nil : addFollower(of: batch, after, transaction)
            return (batch, follower, bases)
        }
        batchNumbers = numbers.dropFirst(count)
        pending.append(batch, turn: turn)
        if let follower { pending.append(follower, turn: .awaitsFiles) }
        if !deleted.isEmpty || rejected.map(deleting.contains) == true { deleting.insert(batch.id) }
        if let rejected {
            rejectedCount -= 1
            deleting.remove(rejected)
        }
        let newest = follower == nil ? contents : nil
        return (batch, bases.map { pending.view(of: $0.path, over: $0.stored, newest: newest) })
    }

    /// Adds the batch that completes documents when the objects of their files exist.
    private func addFollower(
        of batch: MutationBatch, _ attached: [AttachedFile], _ transaction: StoreTransaction
    ) throws -> MutationBatch {
        let follower = MutationBatch(
            id: batch.id + 1, localWriteTime: batch.localWriteTime, baseMutations: [],
            mutations: attached.compactMap(\.completion))
        try TurnTable.set(.awaitsFiles, of: follower.id, transaction)
        try files.add(attached, of: follower.id, behind: batch.id, transaction)
        try batches.add(follower, contents: nil, transaction)
        return follower
    }

    /// True if some of the taken numbers belong to no batch yet.
    var hasBatchNumbers: Bool { !batchNumbers.isEmpty }

    func giveBackBatchNumbers(_ transaction: StoreTransaction) throws {
        guard let next = batchNumbers.first else { return }
        try BatchNumbers.saveLast(next - 1, transaction)
    }

    private typealias Base = (path: DocumentPath, stored: StoredDocument?)

    /// Reads the bases inside the transaction. After the transaction, no step that can fail is
    /// left.
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

    /// Removes an acknowledged batch from the queue and stores its result in the cache.
    ///
    /// - Parameter position: The position of the stream after this batch. It is stored in the same
    ///   transaction, so the answers after it belong exactly to the remaining batches.
    func acknowledge(
        _ batch: MutationBatch, _ results: [MutationResult], commitTime: Timestamp,
        position: WritePosition? = nil
    ) throws -> [LocalDocument] {
        let bases = try file.write(.acknowledgeBatch) { transaction in
            let table = transaction.documents(of: file.database)
            for path in batch.paths {
                let base = try table.document(at: path)
                if let new = outcome(
                    of: batch, at: path, base: base, results: results, commitTime: commitTime)
                {
                    try table.put(new)
                }
            }
            try removeBatch(batch.id, transaction)
            if pending.turn(of: batch.id) != nil { try files.batchIsDone(batch.id, transaction) }
            if pending.hasTurns { try files.documentIsSent(batch.id, transaction) }
            if deleting.contains(batch.id), !isPlanted(.removalForgotten) {
                try files.removalsAreDue(of: batch.id, transaction)
            }
            if notesFates { try SharedBatches.note(batch.id, committed: commitTime, transaction) }
            try LooseDocuments.touch(
                batch.paths, at: targets.nextSequence, transaction)
            if position != writePosition { try positions.save(position, transaction) }
            return try storedBases(of: batch, transaction)
        }
        targets.countUse()
        writePosition = position
        pending.remove(batch.id)
        deleting.remove(batch.id)
        return views(over: bases)
    }

    /// Returns nil if the cache has the result already or if nothing changed.
    private func outcome(
        of batch: MutationBatch, at path: DocumentPath, base: StoredDocument?,
        results: [MutationResult], commitTime: Timestamp
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

    /// Removes a batch that the server refused, and keeps it with the reason. A batch that would
    /// complete its documents leaves the queue too. All batches before it were acknowledged. The
    /// batches after it were not done, so the next stream is a new one.
    func reject(
        _ batch: MutationBatch, _ reason: RPCStatus, at time: Timestamp
    ) throws -> [LocalDocument] {
        var (numbers, gone, released) = (batchNumbers, [batch.id], [Release]())
        let bases: [Base] = try file.write(.rejectBatch, .disk) { transaction in
            try removeBatch(batch.id, transaction)
            try rejected.keep(batch, reason: reason, at: time, transaction: transaction)
            rejectedCount = try rejected.count(transaction)
            if pending.turn(of: batch.id) != nil {
                try files.batchIsRejected(batch.id, transaction)
            }
            gone += try removeFollowers(of: batch.id, transaction)
            try files.documentIsRejected(batch.id, transaction)
            try files.endForgotten(transaction)
            try positions.save(nil, transaction)
            // Later writes to the documents waited behind the batch that would complete them.
            if gone.count > 1 { released = try release(without: gone, &numbers, transaction) }
            return try storedBases(of: batch, transaction)
        }
        (writePosition, batchNumbers) = (nil, numbers)
        for id in gone { pending.remove(id) }
        for (id, turn) in released { pending.release(id, turn: turn) }
        return views(over: bases)
    }

    private func removeBatch(_ id: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute("DELETE FROM syncBatch WHERE id = ?", [.integer(id)])
        if pending.turn(of: id) != nil { try TurnTable.remove(id, transaction) }
    }

    /// Removes the batches that would complete the documents of a batch that is refused or given
    /// up.
    private func removeFollowers(
        of batch: Int64, _ transaction: StoreTransaction
    ) throws -> [Int64] {
        if !pending.hasTurns || isPlanted(.completionKept) { return [] }
        let followers = try files.followers(of: batch, transaction)
        for id in followers { try removeBatch(id, transaction) }
        return followers
    }

    private func isPlanted(_ defect: FileDefect) -> Bool {
        #if TIDEMARK_DEFECTS
            return planted == defect
        #else
            return false
        #endif
    }

    // MARK: Batches that wait for files

    /// Returns the turn of a new batch; nil if the batch can be sent in the order of its number.
    private func turn(of mutations: [Mutation], _ attached: [AttachedFile]) -> BatchTurn? {
        if !attached.isEmpty { return .awaitsFiles }
        return pending.holds(anyOf: mutations.map(\.path)) ? .isBehind : nil
    }

    /// Changes files in one synced step, and gives the batches that wait for no file any more their
    /// turns.
    ///
    /// - Parameters:
    ///   - dropped: A held batch that leaves the queue in the same step.
    /// - Returns: The result of `body`, and true if a batch can be sent now.
    func changeFiles<T>(
        dropping dropped: Int64? = nil, _ durability: DocumentStore.Durability = .disk,
        _ body: (FileTable, StoreTransaction) throws -> T
    ) throws -> (result: T, isReleased: Bool, changed: [LocalDocument]) {
        var numbers = batchNumbers
        let batch = dropped.flatMap { pending.batch($0) }
        var gone: [Int64] = []
        let (result, released, bases) = try file.write(.changeFiles, durability) {
            transaction -> (T, [Release], [Base]) in
            let result = try body(files, transaction)
            if let dropped {
                try removeBatch(dropped, transaction)
                gone = [dropped] + (try removeFollowers(of: dropped, transaction))
                try files.documentIsDiscarded(dropped, transaction)
            }
            // A turn must survive a loss of power before its batch is sent.
            let released =
                try durability == .disk ? release(without: gone, &numbers, transaction) : []
            return (result, released, try batch.map { try storedBases(of: $0, transaction) } ?? [])
        }
        batchNumbers = numbers
        for id in gone {
            pending.remove(id)
            deleting.remove(id)
        }
        for (id, turn) in released { pending.release(id, turn: turn) }
        return (result, !released.isEmpty, views(over: bases))
    }

    private typealias Release = (batch: Int64, turn: Int64)

    /// Stores the turns of the batches that can be sent now.
    private func release(
        without gone: [Int64], _ numbers: inout Range<Int64>, _ transaction: StoreTransaction
    ) throws -> [Release] {
        try freeBatches(without: gone, transaction).map { id in
            if numbers.isEmpty { numbers = try BatchNumbers.take(transaction) }
            let turn = numbers.removeFirst()
            try TurnTable.set(.number(turn), of: id, transaction)
            return (id, turn)
        }
    }

    /// Gives up the files of a batch that completes documents. The batch removes their fields
    /// instead, and can be sent.
    ///
    /// - Returns: The documents as they look now.
    func giveUpFiles(of id: Int64) throws -> [LocalDocument] {
        guard let batch = pending.batch(id), pending.isHeld(id) else { return [] }
        let without = batch.withoutFiles
        let bases = try changeFiles { files, transaction in
            try files.batchIsDiscarded(id, transaction)
            try batches.replace(without, transaction)
            return try storedBases(of: without, transaction)
        }.result
        pending.replace(without)
        return views(over: bases)
    }

    /// Returns the held batches that can be sent now.
    private func freeBatches(
        without gone: [Int64], _ transaction: StoreTransaction
    ) throws -> [Int64] {
        if !pending.hasHeld { return [] }
        if isPlanted(.sentWithoutFile) {
            return pending.free(pending.batches.map(\.id), without: gone)
        }
        return pending.free(try files.batchesWithoutFiles(transaction), without: gone)
    }

    func readFiles<T>(_ body: (FileTable, StoreTransaction) throws -> T) throws -> T {
        try file.read { try body(files, $0) }
    }

    // MARK: Writes that were refused

    func rejectedWrites() throws -> [RejectedWrite] {
        try file.read { try rejected.all($0) }
    }

    func discardRejected(_ id: Int64) throws {
        rejectedCount = try file.write(.discardRejected, .disk) { transaction in
            try rejected.discard(id, transaction)
            try files.endForgotten(transaction)
            return try rejected.count(transaction)
        }
    }

    /// Stores an unreadable message from another process as a refused write without contents.
    func refuse(unreadable name: String, at time: Timestamp) throws {
        var numbers = batchNumbers
        rejectedCount = try file.write(.rejectBatch, .disk) { transaction in
            if numbers.isEmpty { numbers = try BatchNumbers.take(transaction) }
            try BatchNote.shared(name).write(of: numbers.lowerBound, transaction)
            try rejected.keep(
                numbers.lowerBound, localWriteTime: time.microseconds, mutations: [],
                reason: BatchTable.unreadable, at: time, transaction: transaction)
            return try rejected.count(transaction)
        }
        batchNumbers = numbers.dropFirst()
    }

    // MARK: Other processes

    /// - Returns: The number of the batch that another process left under this name; nil if the
    ///   batch is not in the queue and never was.
    func number(ofShared name: String) throws -> Int64? {
        try file.read { try SharedBatches.number(of: name, $0) }
    }

    /// Returns the outcome of a batch, also if another process sent the batch.
    func fate(of batch: Int64) throws -> BatchFate {
        if pending.contains(batch) { return .pending }
        return try file.read { transaction in
            if let time = try SharedBatches.commitTime(of: batch, transaction) {
                return .committed(time)
            }
            return try rejected.reason(of: batch, transaction).map(BatchFate.rejected) ?? .unknown
        }
    }

    // MARK: The write stream's position

    /// Stores the position; call this before a batch is sent on the stream. A new position costs a
    /// sync of the disk.
    func keep(_ position: WritePosition?) throws {
        if position == writePosition { return }
        try file.write(.keepWritePosition, .disk) { try positions.save(position, $0) }
        writePosition = position
    }

    // MARK: Loading

    func loadPosition(_ transaction: StoreTransaction) throws {
        writePosition = try positions.position(transaction)
    }

    /// Reads the queue. An unreadable batch is set aside, so it does not block the others.
    func load() throws {
        let (queue, count) = try file.store.read(label: StorageStep.open.rawValue) {
            transaction in
            deleting = try files.batchesWithRemovals(transaction)
            return (try batches.queue(transaction), try rejected.count(transaction))
        }
        pending = queue.pending
        rejectedCount = count
        if !queue.damaged.isEmpty {
            rejectedCount = try file.store.write(.disk, label: StorageStep.open.rawValue) {
                transaction in
                try batches.setAside(queue.damaged, transaction)
                return try rejected.count(transaction)
            }
        }
        // A batch that waited for a batch that was set aside can be sent.
        if pending.free(queue.withoutFiles, without: []).isEmpty { return }
        _ = try changeFiles { _, _ in }
    }

    /// Stores a saved queue in a new file.
    ///
    /// - Parameter position: The position of the write stream on which the head of the queue was
    ///   sent.
    func restore(_ saved: SavedQueue, _ position: WritePosition?) throws {
        try file.write(.open, .disk) { transaction in
            try saved.insert(transaction)
            try positions.save(position, transaction)
        }
        writePosition = position
        batchNumbers = 0..<0
        try load()
    }

    /// Switches to the queue of another user who shares the cache.
    ///
    /// - Returns: The documents with pending writes of either user, as they look now.
    func changeUser(to next: String?) throws -> [LocalDocument] {
        var bases: [(DocumentPath, StoredDocument?)] = []
        let (queue, position) = try file.write(.handleUserChange) { transaction in
            let batches = BatchTable(user: next)
            let queue = try batches.queue(transaction)
            try batches.setAside(queue.damaged, transaction)
            rejectedCount = try RejectedTable(user: next).count(transaction)
            deleting = try FileTable(user: next).batchesWithRemovals(transaction)
            let paths = Set((pending.batches + queue.pending.batches).flatMap(\.paths))
            let table = transaction.documents(of: file.database)
            bases = try paths.sorted().map { path in (path, try table.document(at: path)) }
            return (queue.pending, try PositionTable(user: next).position(transaction))
        }
        user = next
        pending = queue
        writePosition = position
        return bases.map { pending.view(of: $0.0, over: $0.1) }
    }
}
