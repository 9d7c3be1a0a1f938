import TidemarkStore

/// Makes the indexes that queries wished for when nobody waits: never inside the read that wished.
struct IndexBuilder {
    private let context: EngineContext
    private let storage: CacheStorage

    /// After the last query that asked.
    private static let pauseBeforeIndexes = Duration.milliseconds(100)
    /// Between two slices, for whatever else the engine has to do.
    private static let pauseBetweenSlices = Duration.milliseconds(2)
    /// How long a slice may hold the engine, in steps of some 3 µs and in time. A frame of a screen is 8 ms.
    private static let stepsOfSlice = 2_000
    private static let longestSlice = Duration.milliseconds(3)

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.context = context
        self.storage = storage
    }

    /// Makes what is wished for in a while. Called after queries were run.
    func want() {
        guard storage.local.store.wantsIndexes, !context.isScheduled(.indexBuilding) else { return }
        context.schedule(.indexBuilding, after: Self.pauseBeforeIndexes)
    }

    /// One slice. An index is never needed: where the disk is full, the next query asks again.
    func buildSlice() {
        let scheduler = context.environment.scheduler
        let end = scheduler.elapsed + Self.longestSlice
        let isMore = try? storage.local.store.buildWantedIndexes(slice: Self.stepsOfSlice) {
            scheduler.elapsed >= end
        }
        guard isMore == true else { return }
        context.schedule(.indexBuilding, after: Self.pauseBetweenSlices)
    }

    // MARK: In an app's hands

    /// Whether indexes are made on their own, until the engine ends.
    func setMakesWishedOnes(_ isAutomatic: Bool) throws {
        try storage.local.store.setMakesWishedIndexes(isAutomatic)
    }

    /// Makes these in a while; those that are there stay.
    func declare(_ definitions: [IndexDefinition]) throws {
        try storage.local.write(.declareIndexes) { transaction in
            let table = transaction.documents(of: context.database)
            for definition in definitions { try table.declareIndex(definition, fillsNow: false) }
        }
        want()
    }

    func deleteAll() throws {
        try storage.local.write(.declareIndexes) { transaction in
            let table = transaction.documents(of: context.database)
            for index in try table.indexes() { try table.dropIndex(index.definition) }
        }
    }

    /// All slices at once.
    func finish() {
        context.cancelTimer(.indexBuilding)
        while (try? storage.local.store.buildWantedIndexes()) == true {}
    }
}
