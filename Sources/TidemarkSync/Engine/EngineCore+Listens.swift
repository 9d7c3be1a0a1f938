import TidemarkModel

/// A query that somebody listens to.
///
/// A class, so that its view has one owner, whose steps copy nothing, and looking at it copies nothing.
final class ListenedQuery {
    struct Listener {
        let id: UInt64
        var machine: QueryListener
        let observer: Observer
    }

    typealias Observer = @Sendable (Result<ViewSnapshot, SyncError>) -> Void

    var targetID: Int32
    /// Whom it is counted for: the first of its listeners that asked the server.
    var tag: ReadTag
    /// Of its first listen: events come in this order.
    let order: UInt64
    var view: View
    /// In the order they came, which is that of their ids.
    private(set) var listeners: [Listener] = []
    /// Which one of the engine's sliced reads finds out which documents the target has.
    var keysRead: UInt64?

    /// Nobody has been told anything.
    init(targetID: Int32, _ shape: ViewShape, synced: Set<DocumentPath>?, first: Listener) {
        self.targetID = targetID
        tag = first.machine.options.tag
        order = first.id
        view = .empty(shape, synced: synced)
        listeners = [first]
    }

    var query: Query { view.query }

    /// In the order the listeners came.
    var listenerIDs: [UInt64] { listeners.map(\.id) }

    /// Mostly there is one; nil where there are more, or none.
    var onlyListenerID: UInt64? { listeners.count == 1 ? listeners[0].id : nil }

    /// Whether one of the listeners wants to hear of the server.
    var isRemote: Bool { listeners.contains { $0.machine.options.source != .cache } }

    func add(_ listener: Listener) {
        listeners.insert(listener, at: listeners.partitioningIndex { $0.id > listener.id })
    }

    func has(_ id: UInt64) -> Bool { place(of: id) != nil }

    func remove(_ id: UInt64) {
        if let place = place(of: id) { listeners.remove(at: place) }
    }

    /// - Returns: What is to be told to whom; nil when there is nothing to tell, or nobody.
    func step(
        _ id: UInt64, _ event: consuming QueryListener.Event
    ) -> (ViewSnapshot, observer: Observer)? {
        guard let place = place(of: id) else { return nil }
        guard let snapshot = listeners[place].machine.step(event) else { return nil }
        return (snapshot, listeners[place].observer)
    }

    private func place(of id: UInt64) -> Int? {
        if let only = onlyListenerID { return only == id ? 0 : nil }
        let place = listeners.partitioningIndex { $0.id >= id }
        return place < listeners.count && listeners[place].id == id ? place : nil
    }
}

extension EngineCore {
    func addListener(
        _ id: UInt64, _ query: Query, _ options: SyncEngine.ListenOptions,
        _ observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) {
        if let refusal { return observer(.failure(refusal)) }
        if query.projection != nil {
            var whole = query
            whole.projection = nil
            return addListener(id, whole, options, observer)
        }
        guard query.offset == 0 else {
            return observer(.failure(.invalidArgument("A listen cannot skip rows by an offset.")))
        }
        let recent = local.targets.recent(query)
        let key = recent.key
        if options.source != .cache, queries[key]?.isRemote != true,
            case .refused(let budget) = verdict(on: options.tag)
        {
            return observer(.failure(.overBudget(budget)))
        }
        let listener = ListenedQuery.Listener(
            id: id, machine: QueryListener(options), observer: observer)
        if queries[key] != nil {
            join(listener, key)
        } else if openings[key] != nil {
            openings[key]!.listeners.append(listener)
        } else {
            open(recent, listener)
        }
    }

    /// A further listener of a query, or one whose query was opened a moment ago.
    private func join(_ listener: ListenedQuery.Listener, _ key: QueryKey) {
        let options = listener.machine.options
        if options.source != .cache, !queries[key]!.isRemote { queries[key]!.tag = options.tag }
        queries[key]!.add(listener)
        tell(listener.id, of: key, .online(online.state))
        tellPresentState(listener.id, key)
        if options.source != .cache { listenRemotely(key) }
    }

    /// The first listener of a query: runs it on the cache.
    private func open(_ recent: RecentQuery, _ listener: ListenedQuery.Listener) {
        defer { wantIndexes() }
        do {
            guard let opened = try local.targets.open(recent, lookingAt: mostAtOnce) else {
                return openLater(recent, listener)
            }
            show(opened, recent, listener)
        } catch { return listener.observer(.failure(SyncError(storing: error))) }
        if listener.machine.options.source != .cache { listenRemotely(recent.key) }
    }

    private func show(
        _ opened: OpenedQuery, _ recent: RecentQuery, _ listener: ListenedQuery.Listener
    ) {
        let key = recent.key
        let id = opened.targetID
        // Another query of the same target may be synced already.
        let mirror = queriesByTarget[id]?.first.flatMap { queries[$0] }
        var delta = TargetDelta(resumeToken: opened.resumeToken)
        delta.isCurrent = mirror?.view.isFresh == true && online.state != .offline
        let listened = ListenedQuery(
            targetID: id, recent.shape, synced: opened.synced, first: listener)
        queries[key] = listened
        queriesByTarget[id, default: []].append(key)
        stepView(
            listened, key,
            .result(opened.documents, View.Target(delta: delta), version: mirror?.view.readTime))
    }

    private func tellPresentState(_ id: UInt64, _ key: QueryKey) {
        guard let listened = queries[key] else { return }
        let view = listened.view
        let snapshot = ViewSnapshot(
            view.shape, rows: view.rows, changes: nil, isFromCache: !view.isFresh,
            hasPendingWrites: view.hasPendingWrites, syncStateChanged: true,
            readTime: view.isFresh ? view.readTime : nil)
        let hasToken = local.targets[listened.targetID]?.resumeToken.isEmpty == false
        tell(id, of: key, .snapshot(snapshot, hasCachedResults: hasToken, online.state))
    }

    func listenRemotely(_ key: QueryKey) {
        guard let listened = queries[key], let target = local.targets[listened.targetID],
            remoteTargets[target.id] == nil, mayListen(key)
        else { return }
        do {
            guard try knowsKeys(of: listened, key) else { return }
        } catch { return fail(key, SyncError(storing: error)) }
        let kind: ListenTarget.Kind =
            listened.query.onlyDocument.map { .documents([$0]) }
            ?? .query(listened.query.wireForm)
        listenRemotely(
            RemoteTarget(
                id: target.id, kind: kind, purpose: .listen, resumeToken: target.resumeToken,
                readTime: target.snapshotVersion == .epoch ? nil : target.snapshotVersion,
                tag: listened.tag))
    }

    /// Whether it is known which documents a query's target has. Where they are many they are read in slices,
    /// and the server is asked after that.
    private func knowsKeys(of listened: ListenedQuery, _ key: QueryKey) throws -> Bool {
        if listened.view.synced != nil { return true }
        if listened.keysRead != nil { return false }
        guard try local.targets.hasRows(moreThan: mostAtOnce, of: listened.targetID) else {
            try readKeys(of: listened)
            return true
        }
        let read = KeysRead(listened.targetID, local)
        listened.keysRead = beginLater(read) { [weak self] error in
            listened.keysRead = nil
            guard let self, queries[key] === listened else { return }
            if let error { return fail(key, error) }
            // Something may have had to know them at once.
            if listened.view.synced == nil { listened.view.learn(synced: read.paths) }
            if listened.isRemote { listenRemotely(key) }
        }
        return false
    }

    func tell(_ id: UInt64, of key: QueryKey, _ event: QueryListener.Event) {
        if let listened = queries[key] { tell(id, of: listened, event) }
    }

    func tell(
        _ id: UInt64, of listened: ListenedQuery, _ event: consuming QueryListener.Event
    ) {
        guard case (var snapshot, let observer)? = listened.step(id, event) else { return }
        if snapshot.isFromCache, let reason = staleReason(of: listened.targetID) {
            snapshot.staleReason = reason
        }
        observer(.success(snapshot))
        tellInSyncLater()
    }

    /// After this step, in which other listeners may hear of the same change.
    private func tellInSyncLater() {
        guard !syncObservers.isEmpty, !willTellInSync else { return }
        willTellInSync = true
        environment.scheduler.enqueue { [weak self] in
            guard let self else { return }
            willTellInSync = false
            for id in syncObservers.keys.sorted() { syncObservers[id]?() }
        }
    }

    /// Told at once, as nothing is under way.
    func observeInSync(_ id: UInt64, _ observer: @escaping @Sendable () -> Void) {
        guard state == .running else { return }
        syncObservers[id] = observer
        observer()
    }

    func removeListener(_ id: UInt64) {
        if !openings.isEmpty, removeOpening(id) { return }
        guard let key = queries.first(where: { $0.value.has(id) })?.key else { return }
        queries[key]!.remove(id)
        let targetID = queries[key]!.targetID
        if queries[key]!.listeners.isEmpty { drop(key) }
        let keys = queriesByTarget[targetID] ?? []
        if keys.isEmpty {
            closeTarget(targetID)
        } else if !keys.contains(where: { queries[$0]?.isRemote == true }) {
            unlistenRemotely(targetID)
            forgetHeldBack(targetID)
        }
    }

    private func drop(_ key: QueryKey) {
        guard let listened = queries.removeValue(forKey: key) else { return }
        if let read = listened.keysRead { dropRead(read) }
        queriesByTarget[listened.targetID]?.removeAll { $0 == key }
        if queriesByTarget[listened.targetID]?.isEmpty == true {
            queriesByTarget[listened.targetID] = nil
        }
    }

    /// Nothing uses the target any more.
    func closeTarget(_ id: Int32) {
        unlistenRemotely(id)
        perform(limbo.step(.viewGone(id)))
        forgetHeldBack(id)
        // What could not be stored is only an older token.
        do { try local.targets.release(id) } catch {}
    }

    /// Tells a query's listeners once and drops them.
    func fail(_ key: QueryKey, _ error: SyncError) {
        guard let listened = queries[key] else { return }
        drop(key)
        for listener in listened.listeners { listener.observer(.failure(error)) }
        if queriesByTarget[listened.targetID] == nil { closeTarget(listened.targetID) }
    }
}

// MARK: - Queries that take long to open

/// A query whose first rows take more than one step to be found. Whatever changes meanwhile is in them.
struct Opening {
    let recent: RecentQuery
    /// In the order they came; there is one.
    var listeners: [ListenedQuery.Listener]
    /// Which one of the engine's sliced reads it is; nil while there is no cache to read.
    var read: UInt64?
}

extension EngineCore {
    private func openLater(_ recent: RecentQuery, _ listener: ListenedQuery.Listener) {
        openings[recent.key] = Opening(recent: recent, listeners: [listener])
        startOpening(recent.key)
    }

    private func startOpening(_ key: QueryKey) {
        let read = QueryRead(openings[key]!.recent.query, local, .allocateTarget)
        openings[key]!.read = beginLater(read) { [weak self] in
            self?.finishOpening(key, read.rows, $0)
        }
    }

    private func finishOpening(_ key: QueryKey, _ rows: [LocalDocument], _ error: SyncError?) {
        guard let opening = openings.removeValue(forKey: key) else { return }
        do {
            if let error { throw error }
            show(try local.targets.open(opening.recent, rows), opening.recent, opening.listeners[0])
        } catch {
            for listener in opening.listeners {
                listener.observer(.failure(SyncError(storing: error)))
            }
            return
        }
        if opening.listeners[0].machine.options.source != .cache { listenRemotely(key) }
        for listener in opening.listeners.dropFirst() where queries[key] != nil {
            join(listener, key)
        }
    }

    /// - Returns: Whether the listener was one of a query that is being opened.
    private func removeOpening(_ id: UInt64) -> Bool {
        for (key, opening) in openings {
            guard let place = opening.listeners.firstIndex(where: { $0.id == id }) else { continue }
            openings[key]!.listeners.remove(at: place)
            if opening.listeners.count == 1 {
                if let read = opening.read { dropRead(read) }
                openings[key] = nil
            }
            return true
        }
        return false
    }

    /// Until another cache is there.
    func pauseOpenings() {
        for listened in queries.values {
            if let read = listened.keysRead { dropRead(read) }
            listened.keysRead = nil
        }
        for (key, opening) in openings {
            if let read = opening.read { dropRead(read) }
            openings[key]!.read = nil
        }
    }

    /// Begins anew, with the cache that is there now.
    func restartOpenings() {
        let order = openings.sorted { $0.value.listeners[0].id < $1.value.listeners[0].id }
        for (key, opening) in order where opening.read == nil { startOpening(key) }
    }

    /// None will ever be opened.
    func endOpenings(_ error: SyncError) {
        pauseOpenings()
        let all = openings.values.flatMap(\.listeners).sorted { $0.id < $1.id }
        openings = [:]
        for listener in all { listener.observer(.failure(error)) }
    }
}
