import TidemarkModel
import TidemarkStore

// The calls of the app, by the part that answers each. No call suspends.

// MARK: - Listening

extension EngineCore {
    func addListener(
        _ id: UInt64, query: Query, options: SyncEngine.ListenOptions,
        observer: @escaping Listeners.Observer
    ) {
        parts.listeners.add(id, query: query, options: options, observer: observer)
    }

    func removeListener(_ id: UInt64) { parts.listeners.remove(id) }

    func observeInSync(_ id: UInt64, _ observer: @escaping @Sendable () -> Void) {
        parts.views.observeInSync(id, observer)
    }

    func removeInSyncObserver(_ id: UInt64) { parts.views.removeInSyncObserver(id) }
    func follow(_ id: UInt64, _ changes: CacheChanges) { parts.views.follow(id, changes) }
    func unfollow(_ id: UInt64) { parts.views.unfollow(id) }
}

// MARK: - Reading

extension EngineCore {
    func read(
        _ target: ReadTarget, _ source: ReadSource, _ deadline: Duration?, _ tag: ReadTag,
        silence: Duration? = nil, _ completion: @escaping CacheReads.Completion
    ) {
        parts.reads.read(target, source, deadline, tag, silence: silence, completion)
    }

    /// Passes the part for calls whose results go to the caller.
    func fetch(_ body: (Fetches) -> Void) { body(parts.fetches) }

    /// Passes the part that answers from the cache only.
    func fromCache(_ body: (CacheReads) -> Void) { body(parts.cache) }

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

    func readBudgetStates() -> Result<[ReadBudgetState], SyncError> {
        cached { _ in parts.meter.states }
    }

    func observeReads(_ id: UInt64, _ observer: @escaping @Sendable (ReadEvent) -> Void) {
        parts.meter.observe(id, observer)
    }

    func removeReadObserver(_ id: UInt64) { parts.meter.removeObserver(id) }

    func setBudgets(_ budgets: [ReadBudget]) {
        parts.meter.setBudgets(budgets)
        parts.remote.releaseHeld()
        parts.remote.enforceBudgets()
    }
}

// MARK: - Writing and storing

extension EngineCore {
    func write(
        _ mutations: [Mutation], attaching attached: AttachedFiles? = nil,
        _ observer: @escaping WriteDelivery.Observer
    ) {
        parts.writing.write(mutations, attaching: attached, observer)
    }

    /// Passes the part for the files of batches.
    func files(_ body: (FileDelivery) -> Void) { body(parts.files) }

    func take(_ moved: MovedBatch) -> Result<Int64?, SyncError> { parts.writing.take(moved) }

    func retryRejectedWrite(_ id: Int64, _ observer: @escaping WriteDelivery.Observer) {
        parts.writing.retry(rejected: id, observer)
    }

    func discardRejectedWrite(_ id: Int64) -> Result<Void, SyncError> {
        stored { _ in try parts.writing.discard(rejected: id) }
    }

    var pendingWrites: Result<[PendingWrite], SyncError> {
        cached { _ in parts.writing.pendingWrites }
    }

    func waitForPendingWrites(_ completion: @escaping @Sendable (SyncError?) -> Void) {
        parts.writing.watch.waitForPendingWrites(completion)
    }

    func observeQueue(_ id: UInt64, _ observer: @escaping @Sendable (WriteQueueState) -> Void) {
        parts.writing.watch.observe(id, observer)
    }

    func removeQueueObserver(_ id: UInt64) { parts.writing.watch.removeObserver(id) }

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

    /// Shows documents that a take-over has stored.
    func refreshViews(_ changed: [LocalDocument]) { parts.views.refresh(changed) }

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

    func observeStorage(_ id: UInt64, _ observer: @escaping @Sendable (StorageState) -> Void) {
        parts.storage.observe(id, observer)
    }

    func removeStorageObserver(_ id: UInt64) { parts.storage.removeObserver(id) }

    func changeIndexes(_ body: (IndexBuilder) throws -> Void) -> SyncError? {
        cached { _ in try body(parts.indexes) }.error
    }

    func finishIndexes() { parts.indexes.finish() }

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
