import TidemarkModel
import TidemarkStore

// Calls of the app that need more than one part, or the engine's gate. Other calls reach their part
// directly. No call suspends.

extension EngineCore {
    /// Returns the result of `body` on the cache.
    func cached<Success: Sendable>(
        _ body: (LocalStore) throws -> Success
    ) -> Result<Success, SyncError> {
        parts.cache.read(body)
    }

    var isOffline: Bool {
        !context.gate.isNetworkEnabled || parts.reachability.state == .offline
    }

    func readReport(days: Int) -> Result<ReadReport, SyncError> {
        cached { _ in try parts.meter.report(days: days) }
    }

    func readBook(days: Int) -> Result<ReadBookDays, SyncError> {
        cached { _ in try parts.meter.book(days: days) }
    }

    func countCachedReads() { parts.meter.countsCached = true }

    func readBudgetStates() -> Result<[ReadBudgetState], SyncError> {
        cached { _ in parts.meter.states }
    }

    func setBudgets(_ budgets: [ReadBudget]) {
        parts.meter.setBudgets(budgets)
        parts.remote.releaseHeld()
        parts.remote.enforceBudgets()
    }

    func discardRejectedWrite(_ id: Int64) -> Result<Void, SyncError> {
        stored { _ in try parts.writing.discard(rejected: id) }
    }

    var pendingWrites: Result<[PendingWrite], SyncError> {
        cached { _ in parts.writing.pendingWrites }
    }

    /// Returns the result of `body`, which stores data in the cache.
    func stored<Success>(
        _ body: (LocalStore) throws -> Success
    ) -> Result<Success, SyncError> {
        if let refusal = context.gate.writeRefusal { return .failure(refusal) }
        do { return .success(try body(parts.storage.local)) } catch {
            return .failure(SyncError(storing: error))
        }
    }

    /// Stores documents that arrived neither by a call nor by a stream.
    func store(_ documents: [BundledDocument], of load: BundleLoad) -> Result<Bool, SyncError> {
        stored { local in
            parts.views.refresh(try local.bundles.store(documents, of: load))
            return true
        }
    }

    /// Returns true if the cache uses more than `percent` of its bound.
    func isFull(_ percent: Int64) throws -> Bool {
        guard let limit = context.configuration.cacheSizeBytes else { return false }
        return try parts.storage.local.garbage.usedBytes() > limit / 100 * percent
    }

    /// Loads a complete bundle.
    func load(_ bundle: DocumentBundle) -> Result<Bool, SyncError> {
        stored { local in
            guard var load = try local.bundles.begin(bundle.id, bundle.createTime) else {
                return false
            }
            load.queries = bundle.namedQueries
            parts.views.refresh(try local.bundles.store(bundle.documents, of: load))
            try local.bundles.finish(load)
            return true
        }
    }

    func abandon(_ load: BundleLoad) {
        parts.storage.local.bundles.abandon(load)
        parts.garbage.scheduleSweep()
    }

    func changeIndexes(_ body: (IndexBuilder) throws -> Void) -> SyncError? {
        cached { _ in try body(parts.indexes) }.error
    }

    func collectGarbage(limit: Int64, percent: Int) -> SyncError? {
        cached { _ in try parts.garbage.collectAll(limit: limit, percent: percent) }.error
    }

    /// Returns true if a request of this session of a user is still valid.
    ///
    /// - Parameter isOfQueue: True if the request concerns the user's queue, which is separate even
    ///   if users share a cache.
    func serves(session: UInt64, isOfQueue: Bool = false) -> Bool {
        context.gate.session == session || parts.storage.isShared && !isOfQueue
    }

    /// Releases the cache's file as a kill of the process would.
    func abandonCache() { parts.storage.local.abandon() }
}

// MARK: - What tests look at

extension EngineCore {
    var local: LocalStore { parts.storage.local }
    var limbo: LimboResolution { parts.remote.documentsInLimbo }
    var listenedQueries: [ListenedQuery] { parts.queries.inOrder }
    /// The wire ids of the requested targets.
    var wireIDs: [Int32: Int32] {
        Dictionary(
            uniqueKeysWithValues: parts.connection.targetIDs.compactMap { id in
                parts.connection.target(id)?.wireID.map { (id, $0) }
            })
    }
    var countUnderWay: Int { parts.writing.countUnderWay }
    var unstoredBatch: Int64? { parts.writing.unstoredBatch }
    var isLookingThroughCache: Bool { parts.listeners.hasOpenings || !parts.slices.isEmpty }
    var hasOpenings: Bool { parts.listeners.hasOpenings }
    var waitingReads: [UInt64] { parts.reads.waitingIDs }

    func finish(_ read: UInt64, fromCache target: ReadTarget, _ reason: StaleReason) {
        parts.reads.finish(read, fromCache: target, reason)
    }

    func findCounts(
        of queries: [Query], _ completion: @escaping (Result<[Int], SyncError>) -> Void
    ) {
        parts.cache.counts(of: queries, completion)
    }
}
