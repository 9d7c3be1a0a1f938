import TidemarkModel
import TidemarkStore

/// A change of the user that was asked for and is not done yet.
struct UserChange {
    let user: String?
    /// As of ``EngineGate/session``.
    let session: UInt64
    /// Whether what is kept of the user before is deleted, with the writes that were never sent.
    let erasesPrevious: Bool
    /// Whether it is the same user, whose cache is opened again.
    var isReopening = false
    let completion: @Sendable (SyncError?) -> Void
}

/// Switches users. Either user is the engine's, never both: everything that could fail comes before the
/// one step in which the caches are swapped.
final class UserChanges {
    /// What one user has waiting while another one uses the engine.
    private struct Parked {
        var observers = WriteDelivery.Observers()
        /// Where caches are in memory: the store, as long as writes wait in it.
        var store: LocalStore?
    }

    private let context: EngineContext
    private let storage: CacheStorage
    private let writing: WriteDelivery
    private let views: QueryViews
    private let exchange: CacheExchange
    /// What was asked for and could not be done yet; while there is any, nothing else is done.
    private var waiting: [UserChange] = []
    private var parked: [UserKey: Parked] = [:]

    init(
        _ context: EngineContext, _ storage: CacheStorage, _ writing: WriteDelivery,
        _ views: QueryViews, _ exchange: CacheExchange
    ) {
        self.context = context
        self.storage = storage
        self.writing = writing
        self.views = views
        self.exchange = exchange
    }

    var isEmpty: Bool { waiting.isEmpty }

    // MARK: Asking

    /// Takes a change up, or refuses it.
    ///
    /// - Returns: Whether the engine has to stop what it does for the present user.
    func ask(_ change: UserChange) -> Bool {
        if let answer = answer(to: change) {
            change.completion(answer)
            return false
        }
        context.gate.userChangeBegan(change.session)
        // It opens a cache of its own; nobody is shown the one before any more.
        waiting.removeAll(where: \.isReopening)
        waiting.append(change)
        return true
    }

    /// Has the present user's closed cache opened again. What waits already does it: the same, or the
    /// change to another user.
    func reopen() {
        guard waiting.isEmpty else { return }
        context.gate.reopeningBegan()
        waiting.append(
            UserChange(
                user: storage.user, session: context.gate.session, erasesPrevious: false,
                isReopening: true, completion: { _ in }))
    }

    /// What can be said at once: the outer nil when the change has to be made.
    private func answer(to change: UserChange) -> SyncError?? {
        guard context.gate.mayChangeUser else { return .some(context.gate.writeRefusal) }
        if change.erasesPrevious, context.gate.isReadOnly { return .some(.storage(.locked)) }
        if let fault = CacheFiles.fault(of: change.user) { return fault }
        if change.erasesPrevious, storage.isShared {
            return .some(
                .invalidArgument("A cache that users share cannot be erased for one of them."))
        }
        let last = waiting.last.map(\.user) ?? storage.user
        return UserKey(last) == UserKey(change.user) ? .some(nil) : nil
    }

    /// Makes all changes that are asked for, in their order. One that fails is tried again later.
    ///
    /// - Returns: Whether none is left.
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

    /// Tells all who wait, of this change or as another user, that nothing comes of it.
    func endAll(_ error: SyncError) {
        for parked in parked.values {
            parked.observers.tellAll(.failed(error))
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
            // It could be opened, and not read: the next attempt finds a new one.
            try storage.opening.renew(path, change.user).close()
            throw error
        }
    }

    /// Cannot fail: from here on the engine is the new user's.
    private func swap(to new: LocalStore, of change: UserChange, _ reopened: [OpenedQuery]) {
        // Those who wait for writes wait for the same ones.
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
        // Only newer tokens were to be written: without them the next listen reads a little more.
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
            writing.tellWaitersOfChange()
            writing.tellObserversOfEnd(.userChanged)
        } else {
            writing.tellWaitersOfChange()
            let observers = writing.takeObservers()
            if !observers.isEmpty || store != nil {
                parked[UserKey(previous)] = Parked(observers: observers, store: store)
            }
        }
        writing.adopt(parked.removeValue(forKey: UserKey(next))?.observers ?? .init())
    }
}
