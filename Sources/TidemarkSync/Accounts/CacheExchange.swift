import TidemarkModel
import TidemarkStore

/// Puts another cache in the place of the present one: another user's, or a new one for a damaged one.
/// Listeners go on, and are told what the new one holds.
struct CacheExchange {
    private let context: EngineContext
    private let storage: CacheStorage
    private let listened: ListenedQueries
    private let views: QueryViews
    private let remote: RemoteListening
    private let writing: WriteDelivery
    private let garbage: GarbageCollector

    init(
        _ context: EngineContext, _ storage: CacheStorage, _ listened: ListenedQueries,
        _ views: QueryViews, _ remote: RemoteListening, _ writing: WriteDelivery,
        _ garbage: GarbageCollector
    ) {
        self.context = context
        self.storage = storage
        self.listened = listened
        self.views = views
        self.remote = remote
        self.writing = writing
        self.garbage = garbage
    }

    /// Those to be run on the new cache before it is put in place.
    var queries: [Query] { listened.inOrder.map(\.query) }

    /// Cannot fail.
    ///
    /// - Parameter reopened: What the new cache has of ``queries``.
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
    }

    /// Makes a new cache for one that is damaged, with the queue as it is in memory. The old file stays
    /// beside it.
    func rebuild() throws {
        let location = storage.location(of: storage.user)
        let old = storage.local
        var saved = try storage.rescue()
        // What the attempt before this one left.
        if case .file(let path) = location { try DocumentStore.erase(path) }
        saved.replace(storage.user, with: old.queue.pending.batches)
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
