import TidemarkModel
import TidemarkStore

/// A change of user that was requested and is not complete.
struct UserChange {
    let user: String?
    /// The number from ``EngineGate/session``.
    let session: UInt64
    /// True to delete the previous user's data, including writes that were never sent.
    let erasesPrevious: Bool
    /// True if the user stays the same and the cache is only reopened.
    var isReopening = false
    let completion: @Sendable (SyncError?) -> Void
}

/// Switches users. The engine belongs to one user at any time: everything that can fail happens
/// before the single step that swaps the caches.
final class UserChanges {
    /// The pending work of a user while another user uses the engine.
    private struct Parked {
        var observers = WriteDelivery.Observers()
        /// The store of a cache in memory, kept as long as writes are pending in it.
        var store: LocalStore?
    }

    private let context: EngineContext
    private let storage: CacheStorage
    private let writing: WriteDelivery
    private let views: QueryViews
    private let exchange: CacheExchange
    /// The changes that could not be made yet. While there are any, the engine does nothing else.
    private var waiting: [UserChange] = []
    private var parked: [UserKey: Parked] = [:]

    init(
        _ context: EngineContext, storage: CacheStorage, writing: WriteDelivery,
        views: QueryViews, exchange: CacheExchange
    ) {
        self.context = context
        self.storage = storage
        self.writing = writing
        self.views = views
        self.exchange = exchange
    }

    var isEmpty: Bool { waiting.isEmpty }

    // MARK: Asking

    /// Accepts or rejects a change.
    ///
    /// - Returns: True if the engine must stop its work for the present user.
    func ask(_ change: UserChange) -> Bool {
        if let answer = answer(to: change) {
            change.completion(answer)
            return false
        }
        context.gate.userChangeBegan(change.session)
        // The change opens another cache, and the previous one is no longer shown.
        waiting.removeAll(where: \.isReopening)
        waiting.append(change)
        return true
    }

    /// Requests reopening the present user's closed cache, unless a pending change already does so.
    func reopen() {
        guard waiting.isEmpty else { return }
        context.gate.reopeningBegan()
        waiting.append(
            UserChange(
                user: storage.user, session: context.gate.session, erasesPrevious: false,
                isReopening: true, completion: { _ in }))
    }

    /// Returns the immediate result of a change; the outer nil if the change must be made.
    private func answer(to change: UserChange) -> SyncError?? {
        guard context.gate.mayChangeUser else { return .some(context.gate.writeRefusal) }
        if change.erasesPrevious, context.gate.isReadOnly { return .some(.storage(.locked)) }
        if let fault = CacheFiles.fault(of: change.user) { return fault }
        if change.erasesPrevious, storage.isShared {
            return .some(
                .invalidArgument("A cache that users share cannot be erased for one user."))
        }
        let last = waiting.last.map(\.user) ?? storage.user
        return UserKey(last) == UserKey(change.user) ? .some(nil) : nil
    }

    /// Makes all requested changes in order. A failed change is retried later.
    ///
    /// - Returns: True if no change is left.
    func makeAll() -> Bool {
        while let change = waiting.first {
            do { try make(change) } catch {
                if let fault = StorageFault(error) { storage.ended(fault) }
                return false
            }
            waiting.removeFirst()
            if waiting.isEmpty { context.gate.userChangesEnded() }
            change.completion(nil)
        }
        return true
    }

    /// Fails all pending changes, and the waiting callers of other users.
    func endAll(_ error: SyncError) {
        for parked in parked.values {
            parked.observers.notifyAll(.failed(error))
        }
        parked = [:]
        for change in waiting { change.completion(error) }
        waiting = []
    }

    // MARK: Making one

    private func make(_ change: UserChange) throws {
        if storage.isShared, !storage.isClosed {
            let changed = try storage.takeUpQueue(of: change.user) { previous in
                swapObservers(of: previous, to: change.user, store: nil)
            }
            writing.startAnew()
            return views.refresh(changed)
        }
        let asked = exchange.queries
        if let parked = parked[UserKey(change.user)]?.store {
            return swap(to: parked, of: change, try parked.targets.reopen(asked))
        }
        let new = try storage.opening.open(change.user)
        do {
            let reopened = try new.local.targets.reopen(asked)
            context.gate.cacheIs(readOnly: new.isView)
            swap(to: new.local, of: change, reopened)
        } catch {
            try? new.local.close()
            guard !new.isView, case .damaged? = StorageFault(error),
                case .file(let path) = storage.location(of: change.user)
            else { throw error }
            // The cache could be opened but not read. The next attempt uses a new cache.
            try storage.opening.renew(path, change.user).close()
            throw error
        }
    }

    /// Swaps the caches. Cannot fail; afterwards the engine belongs to the new user.
    private func swap(to new: LocalStore, of change: UserChange, _ reopened: [OpenedQuery]) {
        // The user is the same, so the waiting callers of its writes keep waiting.
        if change.isReopening {
            exchange.put(new, of: change.user, reopened)
            return writing.settle()
        }
        let old = storage.local
        let oldUser = storage.user
        let oldLocation = storage.location(of: oldUser)
        let keeps = oldLocation == .memory && !old.queue.pending.isEmpty && !change.erasesPrevious
        swapObservers(
            of: oldUser, to: change.user, store: keeps ? old : nil,
            erasesPrevious: change.erasesPrevious)
        exchange.put(new, of: change.user, reopened)
        // Only newer tokens would be lost if closing fails; the next listen then reads slightly
        // more.
        if !keeps { try? old.close() }
        if change.erasesPrevious, case .file(let path) = oldLocation {
            do {
                try DocumentStore.erase(path)
                try StoreInbox.erase(of: path)
            } catch { storage.ended(StorageFault(error)) }
        }
    }

    private func swapObservers(
        of previous: String?, to next: String?, store: LocalStore?, erasesPrevious: Bool = false
    ) {
        if erasesPrevious {
            writing.watch.userChanged()
            writing.notifyObserversOfEnd(.userChanged)
        } else {
            writing.watch.userChanged()
            let observers = writing.takeObservers()
            if !observers.isEmpty || store != nil {
                parked[UserKey(previous)] = Parked(observers: observers, store: store)
            }
        }
        writing.adopt(parked.removeValue(forKey: UserKey(next))?.observers ?? .init())
    }
}
