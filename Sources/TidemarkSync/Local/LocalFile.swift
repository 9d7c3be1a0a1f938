import TidemarkModel
import TidemarkStore

/// The file of a cache and its transactions. Every operation is one transaction. The state in
/// memory changes only after the transaction succeeds. A transaction also writes the released
/// targets, and the ledger of reads when it is due.
final class LocalFile {
    let database: DatabaseID
    let store: DocumentStore
    /// The copy that is open if another process has the cache open. The file of the copy is deleted
    /// with this object.
    private let copy: StoreCopy?
    private let targets: TargetTable
    private let book: ReadBook
    /// Receives nil after every transaction that wrote something, and the fault after every one
    /// that failed.
    var outcome: (StorageFault?) -> Void = { _ in }
    /// The engine's clock.
    var elapsed: @Sendable () -> Duration = { .zero }
    #if TIDEMARK_DEFECTS
        var defects: PlantedDefects = []
    #endif

    /// The log moves into the file in a few milliseconds, because an app may wait for this. In a
    /// burst, the same pages of an index are written many times, so the log may grow to eight times
    /// that length. It may not grow further, because a start after a kill reads all of it, which
    /// takes 10 ms. The memory holds the pages of two indexes over 100,000 documents.
    private static let tuning = DocumentStore.Tuning(
        logPages: 500, longestLog: 4_000, cacheKibibytes: 16_000)
    init(
        _ location: DocumentStore.Location, database: DatabaseID, key: StoreKeySource?,
        fault: SyncEnvironment.StorageFaultSource?, copy: StoreCopy?, targets: TargetTable,
        book: ReadBook
    ) throws {
        self.database = database
        self.copy = copy
        self.targets = targets
        self.book = book
        let stepFault: DocumentStore.Fault? = fault.map { fault in
            { @Sendable (label: String) in StorageStep(rawValue: label).flatMap { fault($0) } }
        }
        store = try DocumentStore(
            location, migrations: LocalSchema.migrations, indexBuilding: .onRequest,
            tuning: Self.tuning, key: key, fault: stepFault)
    }

    // MARK: Transactions

    func write<T>(
        _ step: StorageStep, _ durability: DocumentStore.Durability = .process,
        _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        let waiting = targets.released
        // A copy does not survive a loss of power, so it needs no durability on disk.
        let durability = copy == nil ? durability : .process
        do {
            let hasReads = book.isDue
            var result: T?
            try store.writing(durability, label: step.rawValue) { transaction in
                try targets.saveReleased(transaction)
                #if TIDEMARK_DEFECTS
                    let entries = try entriesToLeave(transaction)
                    result = try body(transaction)
                    try leave(entries, transaction)
                #else
                    result = try body(transaction)
                #endif
                if hasReads { try book.save(transaction) }
            }
            if hasReads { book.saved(at: elapsed()) }
            outcome(nil)
            return result!
        } catch {
            targets.undo(released: waiting)
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

    /// True if this is a copy and its holder has stored something since.
    var isOutdated: Bool { copy?.isOutdated == true }

    /// Writes a value without meaning, to test whether the disk accepts writes.
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
