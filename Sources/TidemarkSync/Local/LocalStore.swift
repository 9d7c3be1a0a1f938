import TidemarkModel
import TidemarkStore

/// Everything stored on this device: documents, targets and their rows, the mutation queue, and
/// records. It is confined to the engine's executor. Each part owns its state. The parts share the
/// ``LocalFile``, which makes all transactions, and the ``TargetTable``.
final class LocalStore {
    let file: LocalFile
    let queue: LocalQueue
    let documents: LocalDocuments
    let targets: LocalTargets
    let remote: RemoteChanges
    let takeOver: LocalTakeOver
    let bundles: LocalBundles
    let garbage: LocalGarbage
    let book = ReadBook()
    private let table = TargetTable()

    init(
        _ location: DocumentStore.Location, database: DatabaseID, user: String? = nil,
        key: StoreKeySource? = nil, fault: SyncEnvironment.StorageFaultSource? = nil,
        copy: StoreCopy? = nil
    ) throws {
        file = try LocalFile(
            location, database: database, key: key, fault: fault, copy: copy, targets: table,
            book: book)
        queue = LocalQueue(file, table, user: user)
        documents = LocalDocuments(file, queue)
        targets = LocalTargets(file, table: table, documents: documents)
        remote = RemoteChanges(file, targets: table, queue: queue)
        takeOver = LocalTakeOver(file, table: table, queue: queue)
        bundles = LocalBundles(file, table: table, remote: remote, queue: queue, takeOver: takeOver)
        garbage = LocalGarbage(file, table: table, targets: targets, bundles: bundles)
        try file.store.read(label: StorageStep.open.rawValue) { transaction in
            try table.load(transaction)
            try queue.loadPosition(transaction)
        }
        try queue.load()
    }

    var database: DatabaseID { file.database }
    var store: DocumentStore { file.store }
    var records: LocalRecords { LocalRecords(file: file) }

    /// Receives nil after every transaction that wrote something, and the fault after every one
    /// that failed.
    var outcome: (StorageFault?) -> Void {
        get { file.outcome }
        set { file.outcome = newValue }
    }

    /// The engine's clock.
    var elapsed: @Sendable () -> Duration {
        get { file.elapsed }
        set { file.elapsed = newValue }
    }

    #if TIDEMARK_DEFECTS
        var defects: PlantedDefects {
            get { file.defects }
            set {
                file.defects = newValue
                queue.keepsOverlays(newValue.contains(.overlayNotRecomputed))
            }
        }
    #endif

    // MARK: Transactions

    func write<T>(
        _ step: StorageStep, _ durability: DocumentStore.Durability = .process,
        _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        try file.write(step, durability, body)
    }

    func read<T>(
        _ step: StorageStep = .read, _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        try file.read(step, body)
    }

    /// Writes a value without meaning, to test whether the disk accepts writes.
    func probe() throws { try file.probe() }

    /// True if this is a copy and its holder has stored something since.
    var isOutdated: Bool { file.isOutdated }

    // MARK: What was billed

    func storedReads(of day: BillingDay) throws -> [ReadRow] {
        try file.read { try book.rows(of: day, $0) }
    }

    func storedReservations(of day: BillingDay) throws -> [ReadReservations.Name: Int] {
        try file.read { try book.reservations(of: day, $0) }
    }

    /// Returns all rows of the days from `first` on, including the rows that are not on disk yet.
    func readReport(since first: BillingDay) throws -> ReadReport {
        try file.read { try book.report(since: first, $0) }
    }

    func cachedReads(since first: BillingDay) throws -> [BillingDay: Int] {
        try file.read { try book.cachedReads(since: first, $0) }
    }

    // MARK: The end

    /// Writes the newest tokens and ends the use of the file.
    func close() throws {
        book.savesReads = true
        let saving = Result {
            if table.isSaved, !book.hasUnsaved, !queue.hasBatchNumbers { return }
            try file.write(.close) { transaction in
                try table.saveAll(transaction)
                try queue.giveBackBatchNumbers(transaction)
            }
        }
        try file.store.close()
        try saving.get()
    }

    /// Ends the use of the file as a kill does.
    func abandon() { try? file.store.close() }
}
