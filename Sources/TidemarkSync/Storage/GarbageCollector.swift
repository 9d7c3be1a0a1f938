import TidemarkModel

/// Keeps the cache within its size while no caller waits. It works in steps, never inside a read or
/// a write.
final class GarbageCollector {
    /// A running collection. The engine does other work between its steps.
    private struct Collection {
        /// The maximum size of the cache in bytes.
        let limit: Int64
        /// The newest sequence number that is removed.
        var bound: Int64
        /// The number of things removed up to this bound.
        var collected = 0
    }

    private let context: EngineContext
    private let storage: CacheStorage
    private let views: QueryViews
    /// The running collection; nil if the cache is small enough.
    private var collection: Collection?

    /// Source for these and for the schedule: client-engine 2.0, "LRU GC".
    private static let share = 10
    private static let most = 1000
    private static let firstCollection = Duration.seconds(60)
    private static let pauseBetweenCollections = Duration.seconds(300)
    private static let rowsOfStep = 200
    /// The delay of a cache that frees content immediately. Its owner accepts this delay as
    /// immediate.
    private static let pauseOfFreeing = Duration.seconds(1)
    private static let pauseBetweenSteps = Duration.milliseconds(2)

    init(_ context: EngineContext, storage: CacheStorage, views: QueryViews) {
        self.context = context
        self.storage = storage
        self.views = views
    }

    private var configuration: SyncEngine.Configuration { context.configuration }

    func start() {
        scheduleCollection(after: Self.firstCollection)
        scheduleSweep()
    }

    /// Forgets the collection after another cache was opened.
    func forgetCollection() { collection = nil }

    private func scheduleCollection(after delay: Duration = pauseBetweenCollections) {
        if configuration.freesAtOnce {
            return context.schedule(.garbageCollection, after: Self.pauseOfFreeing)
        }
        guard configuration.cacheSizeBytes != nil else { return }
        context.schedule(.garbageCollection, after: delay)
    }

    /// The maximum size of the cache in bytes; nil for no limit.
    private var limit: Int64? { configuration.freesAtOnce ? 0 : configuration.cacheSizeBytes }

    /// Schedules the removal of incomplete bundles, which happens at every size of the cache.
    func scheduleSweep() {
        guard !context.gate.isReadOnly, !context.isScheduled(.garbageCollection),
            (try? storage.local.garbage.hasCondemned()) == true
        else { return }
        context.schedule(.garbageCollection, after: Self.firstCollection)
    }

    /// Performs one step. If the disk fails, the next step tries again, and the cache stays too
    /// large until then.
    func collectStep() {
        let mayWork = !context.gate.isChangingUser
        do {
            if collection == nil, mayWork,
                try storage.local.garbage.sweep(limit: Self.rowsOfStep)
            {
                return context.schedule(.garbageCollection, after: Self.pauseBetweenSteps)
            }
        } catch { return scheduleCollection() }
        guard let limit, mayWork else {
            collection = nil
            return scheduleCollection()
        }
        do {
            if collection == nil { collection = try beginCollection(limit: limit) }
            guard try collectOnce() else { return scheduleCollection() }
            context.schedule(.garbageCollection, after: Self.pauseBetweenSteps)
        } catch {
            collection = nil
            scheduleCollection()
        }
    }

    /// Returns nil if the cache is small enough, or if nothing in it is removable.
    private func beginCollection(limit: Int64, percent: Int? = nil) throws -> Collection? {
        let percent = percent ?? (configuration.freesAtOnce ? 100 : Self.share)
        let most = configuration.freesAtOnce ? Int(Int32.max) : Self.most
        guard try storage.local.garbage.usedBytes() > limit else { return nil }
        return try storage.local.garbage.bound(percent: percent, most: most).map {
            Collection(limit: limit, bound: $0)
        }
    }

    /// - Returns: True if another step must follow.
    private func collectOnce() throws -> Bool {
        guard let current = collection else { return false }
        let step = try storage.local.garbage.collect(
            upTo: current.bound, limit: Self.rowsOfStep, isPinned: isPinned)
        let collected = current.collected + step.targets + step.documents
        collection!.collected = collected
        guard step.isDone else { return true }
        collection = nil
        // A collection that removed nothing would remove nothing the next time either.
        guard collected > 0 else { return false }
        collection = try beginCollection(limit: current.limit)
        return collection != nil
    }

    /// Performs a whole collection without a break.
    ///
    /// - Parameter limit: The size that replaces the configured one.
    func collectAll(limit: Int64, percent: Int) throws {
        defer { collection = nil }
        guard let begun = try beginCollection(limit: limit, percent: percent) else { return }
        while !(try storage.local.garbage.collect(
            upTo: begun.bound, limit: Self.rowsOfStep, isPinned: isPinned
        ).isDone) {}
    }

    private func isPinned(_ path: DocumentPath) -> Bool {
        if storage.local.queue.pending.hasWrites(path) { return true }
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.collectedInUse) { return false }
        #endif
        return views.isInUse(path)
    }
}
