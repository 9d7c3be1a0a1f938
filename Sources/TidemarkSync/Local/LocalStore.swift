import TidemarkModel
import TidemarkStore

/// The mediator of everything kept on this device: documents, targets and their rows, the mutation
/// queue, records. Confined to the engine's executor; every operation is one transaction, and what
/// is kept in memory follows only once that is through.
final class LocalStore {
    let database: DatabaseID
    let store: DocumentStore
    /// Of a cache that somebody else has open: gone with this.
    private let copy: StoreCopy?
    /// Whose queue of writes it is.
    private(set) var user: String?
    /// Told of every transaction that wrote something, and with a fault of every one that failed.
    var outcome: (StorageFault?) -> Void = { _ in }
    var pending = PendingWrites()
    /// Of the stream on which the head of the queue was sent, if it was. As it is on disk.
    var writePosition: WritePosition?
    /// Those in use, by id, with the newest token; the disk may have an older one.
    var targets: [Int32: LocalTarget] = [:]
    /// As they are on disk; those of which nothing is known yet are not there.
    var persisted: [Int32: KeptTarget] = [:]
    /// Those that are in use no more, and whose use is not on disk yet.
    var released: [Int32: KeptTarget] = [:]
    var recent = RecentQueries()
    var nextTargetID: Int32 = 2
    /// Taken out of the sequence on disk for the next batches.
    var batchNumbers: Range<Int64> = 0..<0
    var nextSequence: Int64 = 1
    /// Of the last consistent snapshot; never goes back.
    var lastVersion = Timestamp.epoch
    /// As it is on disk; where it is behind, targets there are as new, and bring it with them.
    var savedVersion = Timestamp.epoch
    /// Of the user.
    var rejectedCount = 0
    /// Bundles that are being loaded, by number.
    var loads: [UInt64: LoadingTargets] = [:]
    var nextLoad: UInt64 = 0
    /// What was billed.
    var reads = ReadLedger()
    /// Whether the next transaction that writes stores it too.
    var savesReads = false
    /// The engine's clock.
    var elapsed: @Sendable () -> Duration = { .zero }

    /// A log that moves into the file in a few milliseconds, because an app may be waiting; eight times as
    /// long in a burst, in which the same pages of an index are written again and again, and no more,
    /// because a start after a kill reads all of it: 10 ms. And memory for the pages of two indexes over
    /// 100,000 documents.
    private static let tuning = DocumentStore.Tuning(
        logPages: 500, longestLog: 4_000, cacheKibibytes: 16_000)
    #if TIDEMARK_DEFECTS
        var defects: PlantedDefects = [] {
            didSet { pending.keepsOverlays = defects.contains(.overlayNotRecomputed) }
        }
    #endif

    init(
        _ location: DocumentStore.Location, database: DatabaseID, user: String? = nil,
        fault: SyncEnvironment.StorageFaultSource? = nil, copy: StoreCopy? = nil
    ) throws {
        self.database = database
        self.copy = copy
        self.user = user
        let stepFault: DocumentStore.Fault? = fault.map { fault in
            { @Sendable (label: String) in StorageStep(rawValue: label).flatMap { fault($0) } }
        }
        store = try DocumentStore(
            location, migrations: LocalSchema.migrations, indexBuilding: .onRequest,
            tuning: Self.tuning, fault: stepFault)
        try store.read(label: StorageStep.open.rawValue) { transaction in
            try loadGlobals(transaction)
            writePosition = try storedWritePosition(of: user, transaction)
        }
        try loadQueue()
    }

    /// A batch that cannot be read is set aside, so that it keeps nobody from the others.
    func loadQueue() throws {
        let (queue, damaged, rejected) = try store.read(label: StorageStep.open.rawValue) {
            transaction in
            let (queue, damaged) = try storedQueue(of: user, transaction)
            return (queue, damaged, try countRejected(transaction))
        }
        pending = queue
        rejectedCount = rejected
        guard !damaged.isEmpty else { return }
        rejectedCount = try store.write(.disk, label: StorageStep.open.rawValue) { transaction in
            try setAside(damaged, transaction)
            return try countRejected(transaction)
        }
    }

    private func setAside(_ damaged: [SQLRow], _ transaction: StoreTransaction) throws {
        let reason = RPCStatus(.dataLoss, "The write could not be read back from the disk.")
        for row in damaged {
            try keepRejected(
                row.integer(0), row.integer(1), row.blob(3), reason,
                at: Timestamp(microseconds: row.integer(1)), transaction)
            try transaction.execute("DELETE FROM syncBatch WHERE id = ?", [row.values[0]])
        }
    }

    /// Writes the newest tokens and ends the use of the file.
    func close() throws {
        let unsaved = targets.values.filter { target in
            persisted[target.id].map { $0.target != target } ?? !target.isBlank
        }
        savesReads = true
        let saving = Result {
            if unsaved.isEmpty, released.isEmpty, reads.unsaved.isEmpty, batchNumbers.isEmpty,
                savedVersion == lastVersion
            {
                return
            }
            try write(.close) { transaction in
                for target in unsaved { try save(target, transaction) }
                if savedVersion < lastVersion { try saveLastVersion(lastVersion, transaction) }
                try giveBackBatchNumbers(transaction)
            }
        }
        try store.close()
        try saving.get()
    }

    /// Ends the use of the file as a kill does.
    func abandon() { try? store.close() }

    private func loadGlobals(_ transaction: StoreTransaction) throws {
        for row in try transaction.rows("SELECT name, value FROM syncGlobal")
        where try row.text(0) == "lastVersion" {
            lastVersion = try Timestamp(microseconds: row.integer(1))
            savedVersion = lastVersion
        }
        let row = try transaction.rows(
            """
            SELECT max((SELECT COALESCE(MAX(id), 0) FROM syncTarget),
                (SELECT COALESCE(MAX(target), 0) FROM syncCondemned)),
            max((SELECT COALESCE(MAX(sequence), 0) FROM syncTarget),
                (SELECT COALESCE(MAX(sequence), 0) FROM syncLoose))
            """)[0]
        nextTargetID = try Int32(clamping: row.integer(0)) + 2
        nextSequence = try row.integer(1) + 1
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

    /// Where users share the cache: takes up another one's queue.
    ///
    /// - Returns: The documents with pending writes of either, as they look now.
    func changeUser(to next: String?) throws -> [LocalDocument] {
        let previous = user
        var bases: [(DocumentPath, StoredDocument?)] = []
        let (queue, position) = try write(.handleUserChange) { transaction in
            let (queue, damaged) = try storedQueue(of: next, transaction)
            user = next
            defer { user = previous }
            try setAside(damaged, transaction)
            rejectedCount = try countRejected(transaction)
            let paths = Set(pending.batches.flatMap(\.paths) + queue.batches.flatMap(\.paths))
            let table = transaction.documents(of: database)
            bases = try paths.sorted().map { path in (path, try table.document(at: path)) }
            return (queue, try storedWritePosition(of: next, transaction))
        }
        user = next
        pending = queue
        writePosition = position
        return bases.map { pending.view(of: $0.0, over: $0.1) }
    }
}

// MARK: - Transactions

extension LocalStore {
    func write<T>(
        _ step: StorageStep, _ durability: DocumentStore.Durability = .process,
        _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        let waiting = released
        do {
            let hasReads = savesReads && !reads.unsaved.isEmpty
            var result: T?
            try store.writing(durability, step.rawValue) { transaction in
                for waiting in waiting.values { try save(waiting.target, transaction) }
                #if TIDEMARK_DEFECTS
                    let entries = try entriesToLeave(transaction)
                    result = try body(transaction)
                    try leave(entries, transaction)
                #else
                    result = try body(transaction)
                #endif
                if hasReads { try saveReads(transaction) }
            }
            if hasReads {
                reads.saved(at: elapsed())
                savesReads = false
            }
            outcome(nil)
            return result!
        } catch {
            recent.forgetTargets()
            released = waiting
            if let fault = StorageFault(error) { outcome(fault) }
            throw error
        }
    }

    #if TIDEMARK_DEFECTS
        private func entriesToLeave(_ transaction: StoreTransaction) throws -> [SQLRow] {
            guard defects.contains(.indexEntryLeft) else { return [] }
            return try transaction.rows("SELECT fieldIndex, scope, key, document FROM entry")
        }

        private func leave(_ entries: [SQLRow], _ transaction: StoreTransaction) throws {
            for entry in entries {
                try transaction.execute(
                    """
                    INSERT OR IGNORE INTO entry (fieldIndex, scope, key, document)
                    VALUES (?, ?, ?, ?)
                    """,
                    entry.values)
            }
        }
    #endif

    func read<T>(
        _ step: StorageStep = .read, _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        var result: T?
        do { try store.reading(step.rawValue) { result = try body($0) } } catch {
            if let fault = StorageFault(error) { outcome(fault) }
            throw error
        }
        return result!
    }

    /// Writes something of no meaning, to see whether that can be done.
    func probe() throws {
        try write(.probe, .disk) { transaction in
            try transaction.execute(
                """
                INSERT INTO syncGlobal VALUES ('probe', 1)
                ON CONFLICT (name) DO UPDATE SET value = value + 1
                """)
        }
    }
}

// MARK: - Documents and queries

extension LocalStore {
    func document(at path: DocumentPath) throws -> LocalDocument {
        try read { try document(at: path, $0) }
    }

    func document(
        at path: DocumentPath, _ transaction: StoreTransaction
    ) throws -> LocalDocument {
        if let overlay = pending.overlay(of: path) { return overlay }
        let base = try transaction.documents(of: database).document(at: path)
        return pending.view(of: path, over: base)
    }

    /// The query's rows in its order, pending writes merged in, however long that takes.
    func run(_ query: Query) throws -> [LocalDocument] {
        try read { try run(query, $0) }!
    }

    /// As ``run(_:)``; nil where it takes a look at more than `most` documents or entries, and so a
    /// ``QueryRead``.
    func run(_ query: Query, lookingAt most: Int) throws -> [LocalDocument]? {
        try read { try run(query, $0, lookingAt: most) }
    }

    /// How many rows there is room for at once, where the query says nothing and at most.
    private static let (fewRows, mostReserved) = (16, 256)

    /// - Parameter kept: Of the query, if there is one.
    /// - Returns: Nil where it would have to look at more than `most` documents or entries.
    func run(
        _ query: Query, _ transaction: StoreTransaction, _ kept: KeptPlan? = nil,
        lookingAt most: Int = .max
    ) throws -> [LocalDocument]? {
        if let path = query.onlyDocument {
            let document = try document(at: path, transaction)
            return document.isFound ? [document] : []
        }
        let table = transaction.documents(of: database)
        let written =
            pending.isEmpty
            ? PendingWrites.Written() : pending.written(in: PreparedQuery(query, in: database))
        var rows: [LocalDocument] = []
        rows.reserveCapacity(
            min((query.limit?.count ?? Self.fewRows) + written.count, Self.mostReserved))
        if written.count == 0, query.offset == 0 {
            let stats = try table.run(query, kept, lookingAt: most) { row in
                rows.append(LocalDocument(consume row))
                return true
            }
            return stats.isCut ? nil : rows
        }
        var wider = query
        wider.projection = nil
        wider.offset = 0
        if let limit = query.limit {
            // Written documents may fall out; as many others have to be there to move up.
            let count = limit.count + query.offset + written.count
            if case .first = limit {
                wider.limit = .first(count)
            } else {
                wider.limit = .last(count)
            }
        }
        var enough = Int.max
        if case .first(let count)? = query.limit { enough = count + query.offset }
        let stats = try table.run(wider, kept, lookingAt: most) { row in
            if !pending.hasWrites(row.path) { rows.append(LocalDocument(row)) }
            return rows.count < enough
        }
        if stats.isCut { return nil }
        let others = try self.written(written.unknown, in: query, transaction)
        return merge(query, rows, written.rows + others)
    }

    /// Those of the written documents that are rows of the query, limit and offset aside.
    ///
    /// - Parameter paths: All in collections that the query reads.
    func written(
        _ paths: [DocumentPath], in query: Query, _ transaction: StoreTransaction
    ) throws -> [LocalDocument] {
        if paths.isEmpty { return [] }
        let prepared = PreparedQuery(query, in: database)
        var rows: [LocalDocument] = []
        for path in paths {
            let document = try document(at: path, transaction)
            if document.isRow(of: prepared) { rows.append(document) }
        }
        return rows
    }

    func written(_ paths: [DocumentPath], in query: Query) throws -> [LocalDocument] {
        try read { try written(paths, in: query, $0) }
    }

    /// Puts written documents among rows that are none of them, in the query's order, and cuts to its
    /// limit.
    func merge(
        _ query: Query, _ rows: [LocalDocument], _ written: [LocalDocument]
    ) -> [LocalDocument] {
        let order = RowOrder(query)
        var result = rows[...]
        if !written.isEmpty {
            // The rows are in order already, which this sort makes use of.
            let all = (rows + written).compactMap { document in
                document.viewDocument.map { (ViewRow($0, document.contents, order), document) }
            }
            result = all.sorted { order.precedes($0.0, $1.0) }.map(\.1)[...]
        }
        result = result.dropFirst(query.offset)
        switch query.limit {
        case .first(let count)?: return Array(result.prefix(count))
        case .last(let count)?: return Array(result.suffix(count))
        case nil: return Array(result)
        }
    }
}

extension Query {
    /// The one document that the query asks for by name, if that is all it asks.
    var onlyDocument: DocumentPath? {
        guard case .field(let field, .equal, .reference(let name))? = filter, field.isDocumentID,
            !allDescendants, orders.isEmpty, start == nil, end == nil, offset == 0, limit == nil,
            contains(name.path)
        else { return nil }
        return name.path
    }

    /// Asks for one document by name.
    static func document(_ path: DocumentPath, in database: DatabaseID) -> Query {
        var query = Query(collection: path.parent)
        query.filter = .field(
            .documentID, .equal, .reference(ReferenceValue(database: database, path: path)))
        return query
    }
}
