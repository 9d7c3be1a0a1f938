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
        let recent = local.recent.query(query, in: database)
        let key = recent.key
        if options.source != .cache, queries[key]?.isRemote != true,
            case .refused(let budget) = verdict(on: options.tag)
        {
            return observer(.failure(.overBudget(budget)))
        }
        let listener = ListenedQuery.Listener(
            id: id, machine: QueryListener(options), observer: observer)
        if queries[key] == nil {
            do { try open(recent, listener) } catch {
                return observer(.failure(SyncError(storing: error)))
            }
        } else {
            if options.source != .cache, !queries[key]!.isRemote {
                queries[key]!.tag = options.tag
            }
            queries[key]!.add(listener)
            tell(id, of: key, .online(online.state))
            tellPresentState(id, key)
        }
        if options.source != .cache { listenRemotely(key) }
    }

    /// The first listener of a query: runs it on the cache.
    private func open(
        _ recent: RecentQuery, _ listener: ListenedQuery.Listener
    ) throws {
        defer { wantIndexes() }
        let key = recent.key
        let opened = try local.open(recent)
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
        do { try readKeys(of: listened) } catch { return fail(key, SyncError(storing: error)) }
        let kind: ListenTarget.Kind =
            listened.query.onlyDocument.map { .documents([$0]) }
            ?? .query(listened.query.wireForm)
        listenRemotely(
            RemoteTarget(
                id: target.id, kind: kind, purpose: .listen, resumeToken: target.resumeToken,
                readTime: target.snapshotVersion == .epoch ? nil : target.snapshotVersion,
                tag: listened.tag))
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
        do { try local.releaseTarget(id) } catch {}
    }

    /// Tells a query's listeners once and drops them.
    func fail(_ key: QueryKey, _ error: SyncError) {
        guard let listened = queries[key] else { return }
        drop(key)
        for listener in listened.listeners { listener.observer(.failure(error)) }
        if queriesByTarget[listened.targetID] == nil { closeTarget(listened.targetID) }
    }
}
