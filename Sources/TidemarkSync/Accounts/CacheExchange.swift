import TidemarkModel
import TidemarkStore

/// Replaces the present cache: with another user's, or with a new one for a damaged cache.
/// Listeners stay and receive the contents of the new cache.
struct CacheExchange {
    private let context: EngineContext
    private let storage: CacheStorage
    private let listened: ListenedQueries
    private let views: QueryViews
    private let remote: RemoteListening
    private let writing: WriteDelivery
    private let garbage: GarbageCollector

    init(
        _ context: EngineContext, storage: CacheStorage, listened: ListenedQueries,
        views: QueryViews, remote: RemoteListening, writing: WriteDelivery,
        garbage: GarbageCollector
    ) {
        self.context = context
        self.storage = storage
        self.listened = listened
        self.views = views
        self.remote = remote
        self.writing = writing
        self.garbage = garbage
    }

    /// The queries to run on the new cache before it replaces the present one.
    var queries: [Query] { listened.inOrder.map(\.query) }

    /// Puts the new cache in place. Cannot fail.
    ///
    /// - Parameter reopened: The new cache's results of ``queries``.
    func put(_ new: LocalStore, of user: String?, _ reopened: [OpenedQuery]) {
        storage.replace(by: new, of: user)
        writing.startAnew()
        garbage.forgetCollection()
        remote.forgetAll()
        listened.forgetTargets()
        for (listened, query) in zip(listened.inOrder, reopened) {
            self.listened.move(listened, to: query.targetID)
            views.step(
                listened,
                .exchanged(
                    query.documents, synced: query.synced, hasToken: !query.resumeToken.isEmpty))
        }
        views.cacheWasExchanged()
    }

    /// Makes a new cache for a damaged one, with the queue that is in memory. The old file is kept
    /// beside the new one.
    func rebuild() throws {
        let location = storage.location(of: storage.user)
        let old = storage.local
        var saved = try storage.rescue()
        // Removes the file that an earlier attempt left.
        if case .file(let path) = location { try DocumentStore.erase(path) }
        saved.replace(storage.user, with: old.queue.pending.batches)
        saved.files.replaceTurns(by: old.queue.pending.turns)
        let new = try LocalStore(
            location, database: context.database, user: storage.user,
            key: context.environment.storeKey, fault: context.environment.storageFault)
        do {
            try new.queue.restore(saved, old.queue.writePosition)
            new.book.ledger.adopt(old.book.ledger)
            put(new, of: storage.user, try new.targets.reopen(queries))
        } catch {
            try? new.close()
            throw error
        }
        storage.rescueIsOver()
    }
}
