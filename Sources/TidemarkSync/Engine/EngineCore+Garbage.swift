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
    private static let pauseBetweenSteps = Duration.milliseconds(2)

    func scheduleCollection(after delay: Duration = pauseBetweenCollections) {
        guard configuration.cacheSizeBytes != nil else { return }
        schedule(.garbageCollection, after: delay)
    }

    /// One step. Where the disk fails, the next time will do: the cache is larger than it should be.
    func collectGarbage() {
        guard let limit = configuration.cacheSizeBytes, userChanges.isEmpty else {
            collection = nil
            return scheduleCollection()
        }
        do {
            if collection == nil {
                collection = try beginCollection(
                    limit: limit, percent: Self.garbageShare, most: Self.garbageMost)
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
        limit: Int64, percent: Int, most: Int
    ) throws -> GarbageCollection? {
        guard try local.usedBytes() > limit else { return nil }
        return try local.garbageBound(percent: percent, most: most).map {
            GarbageCollection(limit: limit, bound: $0)
        }
    }

    /// - Returns: Whether to go on.
    private func collectOnce() throws -> Bool {
        guard let current = collection else { return false }
        let step = try local.collectGarbage(
            upTo: current.bound, limit: Self.rowsOfStep, isPinned: isPinned)
        let collected = current.collected + step.targets + step.documents
        collection!.collected = collected
        guard step.isDone else { return true }
        collection = nil
        // What took nothing away would not the next time either.
        guard collected > 0 else { return false }
        collection = try beginCollection(
            limit: current.limit, percent: Self.garbageShare, most: Self.garbageMost)
        return collection != nil
    }

    /// A whole collection at once.
    ///
    /// - Parameter limit: In place of the configured one.
    func collectAllGarbage(limit: Int64, percent: Int) throws {
        defer { collection = nil }
        guard
            let begun = try beginCollection(limit: limit, percent: percent, most: Self.garbageMost)
        else { return }
        while !(try local.collectGarbage(
            upTo: begun.bound, limit: Self.rowsOfStep, isPinned: isPinned
        ).isDone) {}
    }

    private func isPinned(_ path: DocumentPath) -> Bool {
        local.pending.hasWrites(path) || queries.values.contains { $0.view.rows[path] != nil }
    }
}
