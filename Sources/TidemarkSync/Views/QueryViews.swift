import TidemarkModel

/// The views of the listened queries. It steps the views when something changes, and informs the
/// listeners.
// @unchecked: used on the engine's executor only, like the engine.
final class QueryViews: @unchecked Sendable {
    private let context: EngineContext
    private let storage: CacheStorage
    private let queries: ListenedQueries
    private let held: HeldTargets
    private let reachability: Reachability
    /// The followers, which keep documents in memory and need the changed ones.
    private var followers: [UInt64: CacheChanges] = [:]
    /// The observers that are called after all listeners have received the same changes.
    private var inSyncObservers: [UInt64: @Sendable () -> Void] = [:]
    private var willTellInSync = false

    init(
        _ context: EngineContext, storage: CacheStorage, queries: ListenedQueries,
        held: HeldTargets, reachability: Reachability
    ) {
        self.context = context
        self.storage = storage
        self.queries = queries
        self.held = held
        self.reachability = reachability
    }

    // MARK: What changes

    /// - Parameters:
    ///   - event: The server's event; nil if the change was made on this device.
    ///   - awaiting: The read time, if the documents came from a call.
    func refresh(
        _ changed: [LocalDocument], _ event: RemoteEvent? = nil, awaiting: Timestamp? = nil
    ) {
        let isOwn = event == nil && awaiting == nil
        for followed in followers.values { followed.note(changed, isOwn: isOwn) }
        for listened in queries.inOrder where listened.isListened {
            let id = listened.targetID
            let target = event?.targets[id].map { delta in
                View.Target(delta: delta, isPendingReset: event?.mismatches[id] != nil)
            }
            let isConfirmed = event?.confirmed.contains(id) ?? false
            step(
                listened,
                .documents(
                    changed, target, version: isConfirmed ? event?.version : nil,
                    awaiting: awaiting, isBehind: event != nil && !isConfirmed))
        }
    }

    func onlineStateChanged(to state: OnlineState.State) {
        for listened in queries.inOrder {
            if state == .offline { step(listened, .wentOffline) }
            for id in listened.listenerIDs { notify(id, of: listened, .online(state)) }
        }
    }

    /// Steps a view; a removed query receives no events.
    func step(_ listened: ListenedQuery, _ event: View.Event) {
        guard listened.isListened else { return }
        do {
            if event.concernsTarget { try readKeys(of: listened) }
            var effects = listened.step(event)
            if case .needsRefill? = effects.first,
                case .documents(_, let target, let version, _, let isBehind) = event
            {
                let rows = try refill(listened, event)
                effects = listened.step(
                    .result(rows, target, version: version, isBehind: isBehind))
            }
            perform(effects, of: listened)
        } catch { context.notify(.queryFailed(listened, SyncError(storing: error))) }
    }

    /// Returns all rows of a view that lacks some.
    private func refill(_ listened: ListenedQuery, _ event: View.Event) throws -> [LocalDocument] {
        let rows = try storage.local.documents.run(listened.query)
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.limitNotRefilled), case .documents(let told, _, _, _, _) = event {
                let known = Set(listened.view.documents.map(\.path) + told.map(\.path))
                return rows.filter { known.contains($0.path) }
            }
        #endif
        return rows
    }

    private func perform(_ effects: consuming [View.Effect], of listened: ListenedQuery) {
        // There is usually one effect, which is moved and not copied.
        if effects.count == 1 { return perform(effects.removeLast(), of: listened) }
        for effect in effects { perform(effect, of: listened) }
    }

    private func perform(_ effect: consuming View.Effect, of listened: ListenedQuery) {
        let id = listened.targetID
        switch consume effect {
        case .limbo(let path): context.notify(.enteredLimbo(path, view: id))
        case .outOfLimbo(let path): context.notify(.leftLimbo(path, view: id))
        case .raise(let snapshot, let cached):
            #if TIDEMARK_DEFECTS
                let snapshot = leavesOutChange(snapshot)
            #endif
            let event = QueryListener.Event.snapshot(
                snapshot, hasCachedResults: cached, reachability.state)
            if let only = listened.onlyListenerID { return notify(only, of: listened, event) }
            for listener in listened.listenerIDs { notify(listener, of: listened, event) }
        case .needsRefill: preconditionFailure("a full result needs no refill")
        }
    }

    #if TIDEMARK_DEFECTS
        private func leavesOutChange(_ snapshot: ViewSnapshot) -> ViewSnapshot {
            guard context.isPlanted(.changeLeftOut), snapshot.changes.count > 1 else {
                return snapshot
            }
            var other = snapshot
            other.changes.removeLast()
            return other
        }
    #endif

    // MARK: Listeners

    private func notify(
        _ id: UInt64, of listened: ListenedQuery, _ event: consuming QueryListener.Event
    ) {
        guard case (var snapshot, let observer)? = listened.step(id, event) else { return }
        if snapshot.isFromCache, let reason = held.reason(of: listened.targetID) {
            snapshot.staleReason = reason
        }
        observer(.success(snapshot))
        notifyInSyncLater()
    }

    /// Sends a further listener its first snapshot.
    func notifyPresentState(_ id: UInt64, _ listened: ListenedQuery) {
        notify(id, of: listened, .online(reachability.state))
        guard listened.isListened else { return }
        let view = listened.view
        let snapshot = ViewSnapshot(
            view.shape, rows: view.rows, changes: nil, isFromCache: !view.isFresh,
            hasPendingWrites: view.hasPendingWrites, syncStateChanged: true,
            readTime: view.isFresh ? view.readTime : nil,
            syncedCount: view.synced?.count ?? 0, showsTarget: view.showsTarget)
        let hasToken = storage.local.targets[listened.targetID]?.resumeToken.isEmpty == false
        notify(
            id, of: listened,
            .snapshot(snapshot, hasCachedResults: hasToken, reachability.state))
    }

    /// Reports the reason why the shown rows are old. The report reaches the listeners that observe
    /// metadata, and the listeners that have seen nothing yet and would wait for the server.
    func notifyReason(_ listened: ListenedQuery) {
        guard listened.isListened else { return }
        let view = listened.view
        let snapshot = ViewSnapshot(
            view.shape, rows: view.rows, changes: ChangeSet(), isFromCache: true,
            hasPendingWrites: view.hasPendingWrites, syncStateChanged: true, readTime: nil,
            syncedCount: view.synced?.count ?? 0, showsTarget: false)
        for listener in listened.listenerIDs {
            notify(
                listener, of: listened, .snapshot(snapshot, hasCachedResults: false, .offline))
        }
    }

    /// Calls the observers after this step, in which other listeners may receive the same change.
    private func notifyInSyncLater() {
        guard !inSyncObservers.isEmpty, !willTellInSync else { return }
        willTellInSync = true
        context.later { [self] in notifyInSync() }
    }

    private func notifyInSync() {
        willTellInSync = false
        for id in inSyncObservers.keys.sorted() { inSyncObservers[id]?() }
    }

    /// Adds an observer and calls it immediately, because no change is in progress.
    func observeInSync(_ id: UInt64, _ observer: @escaping @Sendable () -> Void) {
        guard context.gate.isRunning else { return }
        inSyncObservers[id] = observer
        observer()
    }

    func removeInSyncObserver(_ id: UInt64) { inSyncObservers[id] = nil }
    func removeInSyncObservers() { inSyncObservers = [:] }

    // MARK: Those who follow the cache

    func follow(_ id: UInt64, _ changes: CacheChanges) { followers[id] = changes }
    func unfollow(_ id: UInt64) { followers[id] = nil }
    func cacheWasExchanged() { for followed in followers.values { followed.noteExchange() } }

    // MARK: What the views hold

    /// Reads the documents of a query's target, unless they are known.
    func readKeys(of listened: ListenedQuery) throws {
        if listened.view.synced != nil { return }
        listened.learn(synced: try storage.local.targets.remoteKeys(of: listened.targetID))
    }

    func readKeysOfAll() throws { try queries.forEach { try readKeys(of: $0) } }

    /// True if a view shows the document in this version, exactly as the cache has it.
    func isHeld(_ path: DocumentPath, _ version: Timestamp) -> Bool {
        let local = storage.local
        if !local.queue.pending.isEmpty, local.queue.pending.hasWrites(path) { return false }
        guard let document = queries.firstView(with: path) else { return false }
        return document.document.updateTime == version && !document.hasLocalMutations
            && !document.hasCommittedMutations
    }

    /// True if a view shows the document, or a follower follows its collection.
    func isInUse(_ path: DocumentPath) -> Bool {
        queries.firstView(with: path) != nil
            || followers.values.contains { !$0.isOwnOnly && $0.query.contains(path) }
    }

    /// True if a document that left `query` may still be a row of a listened query. The listen will
    /// decide; until then the document is shown as it was. If a listened query has all filters of
    /// `query`, the document left it too. If it stayed, an answer marked as complete would include
    /// it.
    ///
    /// Call this after ``readKeysOfAll()``.
    func isListened(_ path: DocumentPath, beside query: Query) -> Bool {
        queries.contains { listened in
            listened.view.synced?.contains(path) == true && !listened.query.isPart(of: query)
        }
    }
}

extension Query {
    /// True if the query can only have rows that `other` has. The check ignores orders, cursors and
    /// limits, and the range of the first order, of which `other` is a page: a row that moved along
    /// that range has left its place.
    fileprivate func isPart(of other: Query) -> Bool {
        guard parent == other.parent,
            collectionID.map(ByteString.init) == other.collectionID.map(ByteString.init),
            allDescendants == other.allDescendants
        else { return false }
        let own = conditions
        return other.conditions.allSatisfy {
            $0.isRange(of: other.orders.first) || own.contains($0)
        }
    }

    /// The conditions that a row must all meet.
    private var conditions: [Filter] {
        switch filter {
        case nil: []
        case .and(let filters)?: filters
        case let filter?: [filter]
        }
    }
}

extension Filter {
    fileprivate func isRange(of order: Order?) -> Bool {
        guard let order, case .field(order.field, let operation, _) = self else { return false }
        switch operation {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return true
        default: return false
        }
    }
}
