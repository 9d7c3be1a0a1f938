import TidemarkModel
import TidemarkStore

/// Makes the indexes that queries requested while no caller waits, never inside the read that
/// requested them.
struct IndexBuilder {
    private let context: EngineContext
    private let storage: CacheStorage

    /// The delay after the last query that requested an index.
    private static let pauseBeforeIndexes = Duration.milliseconds(100)
    /// The pause between two slices, for the engine's other work.
    private static let pauseBetweenSlices = Duration.milliseconds(2)
    /// The maximum length of a slice, in steps of about 3 µs and in time. A frame of a screen takes
    /// 8 ms.
    private static let stepsOfSlice = 2_000
    private static let longestSlice = Duration.milliseconds(3)

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.context = context
        self.storage = storage
    }

    /// Schedules the requested indexes. This is called after queries ran.
    func want() {
        guard storage.lacksWords || storage.local.store.wantsIndexes,
            !context.isScheduled(.indexBuilding)
        else { return }
        context.schedule(.indexBuilding, after: Self.pauseBeforeIndexes)
    }

    /// Makes one slice. An index is never required: if the disk is full, the next query requests it
    /// again.
    func buildSlice() {
        // A search without the index reads all documents. The next search wants the index again.
        try? storage.makeLackingWords()
        let scheduler = context.environment.scheduler
        let end = scheduler.elapsed + Self.longestSlice
        let isMore = try? storage.local.store.buildWantedIndexes(slice: Self.stepsOfSlice) {
            scheduler.elapsed >= end
        }
        guard isMore == true else { return }
        context.schedule(.indexBuilding, after: Self.pauseBetweenSlices)
    }

    // MARK: In an app's hands

    /// Sets whether requested indexes are made automatically, until the engine ends.
    func setMakesWishedOnes(_ isAutomatic: Bool) throws {
        try storage.local.store.setMakesWishedIndexes(isAutomatic)
    }

    /// Makes these indexes after a while; existing ones stay.
    func declare(_ definitions: [IndexDefinition]) throws {
        try storage.local.write(.declareIndexes) { transaction in
            let table = transaction.documents(of: context.database)
            for definition in definitions { try table.declareIndex(definition, fillsNow: false) }
        }
        want()
    }

    /// Makes these the only word indexes, after a while.
    func set(words: [WordIndexDefinition]) throws {
        try storage.set(words: words)
        want()
    }

    func deleteAll() throws {
        try storage.local.write(.declareIndexes) { transaction in
            let table = transaction.documents(of: context.database)
            for index in try table.indexes() { try table.dropIndex(index.definition) }
        }
    }

    /// Makes all slices without a pause.
    func finish() {
        context.cancelTimer(.indexBuilding)
        try? storage.makeLackingWords()
        while (try? storage.local.store.buildWantedIndexes()) == true {}
    }
}
