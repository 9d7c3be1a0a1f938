import TidemarkModel

/// A collection that is under way, in steps between which the engine does other things.
struct GarbageCollection: Equatable, Sendable {
    /// The bytes that the cache may take.
    let limit: Int64
    /// Things used no later than this go.
    var bound: Int64
    /// Of this bound.
    var collected = 0
}

// The cache is kept to its size when nobody waits: never inside a read or a write.

extension EngineCore {
    /// Source for these and for the schedule: client-engine 2.0, "LRU GC".
    static let garbageShare = 10
    static let garbageMost = 1000
    static let firstCollection = Duration.seconds(60)
    static let pauseBetweenCollections = Duration.seconds(300)
    /// Rows of one step.
    private static let rowsOfStep = 200
    /// Of a cache that frees at once: what its owner may take "at once" for.
    private static let pauseOfFreeing = Duration.seconds(1)
    private static let pauseBetweenSteps = Duration.milliseconds(2)

    func scheduleCollection(after delay: Duration = pauseBetweenCollections) {
        if configuration.freesAtOnce {
            return schedule(.garbageCollection, after: Self.pauseOfFreeing)
        }
        guard configuration.cacheSizeBytes != nil else { return }
        schedule(.garbageCollection, after: delay)
    }

    /// The bytes that the cache may take; nil for no bound.
    private var collectionLimit: Int64? {
        configuration.freesAtOnce ? 0 : configuration.cacheSizeBytes
    }

    /// What is left of bundles that did not come whole goes whatever the cache's size is.
    func scheduleSweep() {
        guard !isReadOnly, !isScheduled(.garbageCollection),
            (try? local.garbage.hasCondemned()) == true
        else { return }
        schedule(.garbageCollection, after: Self.firstCollection)
    }

    /// One step. Where the disk fails, the next time will do: the cache is larger than it should be.
    func collectGarbage() {
        do {
            if collection == nil, userChanges.isEmpty,
                try local.garbage.sweep(limit: Self.rowsOfStep)
            {
                return schedule(.garbageCollection, after: Self.pauseBetweenSteps)
            }
        } catch { return scheduleCollection() }
        guard let limit = collectionLimit, userChanges.isEmpty else {
            collection = nil
            return scheduleCollection()
        }
        do {
            if collection == nil {
                collection = try beginCollection(limit: limit)
            }
            guard try collectOnce() else { return scheduleCollection() }
            schedule(.garbageCollection, after: Self.pauseBetweenSteps)
        } catch {
            collection = nil
            scheduleCollection()
        }
    }

    /// Nil when the cache is small enough, or nothing in it may go.
    private func beginCollection(
        limit: Int64, percent: Int? = nil
    ) throws -> GarbageCollection? {
        let percent = percent ?? (configuration.freesAtOnce ? 100 : Self.garbageShare)
        let most = configuration.freesAtOnce ? Int(Int32.max) : Self.garbageMost
        guard try local.garbage.usedBytes() > limit else { return nil }
        return try local.garbage.bound(percent: percent, most: most).map {
            GarbageCollection(limit: limit, bound: $0)
        }
    }

    /// - Returns: Whether to go on.
    private func collectOnce() throws -> Bool {
        guard let current = collection else { return false }
        let step = try local.garbage.collect(
            upTo: current.bound, limit: Self.rowsOfStep, isPinned: isPinned)
        let collected = current.collected + step.targets + step.documents
        collection!.collected = collected
        guard step.isDone else { return true }
        collection = nil
        // What took nothing away would not the next time either.
        guard collected > 0 else { return false }
        collection = try beginCollection(limit: current.limit)
        return collection != nil
    }

    /// A whole collection at once.
    ///
    /// - Parameter limit: In place of the configured one.
    func collectAllGarbage(limit: Int64, percent: Int) throws {
        defer { collection = nil }
        guard let begun = try beginCollection(limit: limit, percent: percent) else { return }
        while !(try local.garbage.collect(
            upTo: begun.bound, limit: Self.rowsOfStep, isPinned: isPinned
        ).isDone) {}
    }

    private func isPinned(_ path: DocumentPath) -> Bool {
        if local.queue.pending.hasWrites(path) { return true }
        #if TIDEMARK_DEFECTS
            if isPlanted(.collectedInUse) { return false }
        #endif
        return queries.values.contains { $0.view.document(at: path) != nil }
            || followers.values.contains { $0.query.contains(path) }
    }
}
