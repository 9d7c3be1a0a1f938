import TidemarkModel

/// Adds and removes listeners: the first listener of a query runs the query on the cache, and the
/// last one ends it.
// @unchecked: used on the engine's executor only, like the engine.
final class Listeners: @unchecked Sendable {
    typealias Observer = ListenedQuery.Observer

    /// A query whose first rows need more than one step. They include the changes made during these
    /// steps.
    private struct Opening {
        let recent: RecentQuery
        /// The listeners in the order of their arrival; at least one.
        var listeners: [ListenedQuery.Listener]
        /// The id of the engine's sliced read; nil while there is no cache to read.
        var read: UInt64?
    }

    private let context: EngineContext
    private let storage: CacheStorage
    private let indexes: IndexBuilder
    private let slices: SlicedReads
    private let meter: BillingMeter
    private let reachability: Reachability
    private let queries: ListenedQueries
    private let views: QueryViews
    private let remote: RemoteListening
    /// The queries with listeners whose first rows are still being read.
    private var openings: [QueryKey: Opening] = [:]

    init(
        _ context: EngineContext, storage: CacheStorage, indexes: IndexBuilder,
        slices: SlicedReads, meter: BillingMeter, reachability: Reachability,
        queries: ListenedQueries, views: QueryViews, remote: RemoteListening
    ) {
        self.context = context
        self.storage = storage
        self.indexes = indexes
        self.slices = slices
        self.meter = meter
        self.reachability = reachability
        self.queries = queries
        self.views = views
        self.remote = remote
    }

    var hasOpenings: Bool { !openings.isEmpty }

    // MARK: Coming

    func add(
        _ id: UInt64, query: Query, options: SyncEngine.ListenOptions,
        observer: @escaping Observer
    ) {
        if let refusal = context.gate.refusal { return observer(.failure(refusal)) }
        if query.projection != nil {
            var whole = query
            whole.projection = nil
            return add(id, query: whole, options: options, observer: observer)
        }
        guard query.offset == 0 else {
            return observer(.failure(.invalidArgument("A listen cannot skip rows by an offset.")))
        }
        let recent = storage.local.targets.recent(query)
        let key = recent.key
        let listened = queries[key]
        if listened == nil {
            // In a server's words, and before rows of the cache that would not be any.
            do throws(RPCStatus) { try query.validateWithoutVectors() } catch {
                return observer(.failure(.server(error)))
            }
        }
        if options.source != .cache, listened?.isRemote != true,
            case .refused(let budget) = meter.verdict(on: options.tag, isOpenCounted: false)
        {
            return observer(.failure(.overBudget(budget)))
        }
        let listener = ListenedQuery.Listener(
            id: id, machine: QueryListener(options), observer: observer)
        if let listened {
            join(listener, listened)
        } else if openings[key] != nil {
            openings[key]!.listeners.append(listener)
        } else {
            open(recent, listener)
        }
    }

    /// Adds a further listener to a query, or a listener whose query was opened a moment ago.
    func join(_ listener: ListenedQuery.Listener, _ listened: ListenedQuery) {
        listened.add(listener)
        views.notifyPresentState(listener.id, listened)
        if listener.options.source != .cache { remote.listen(to: listened) }
    }

    /// Runs a query on the cache for its first listener.
    private func open(_ recent: RecentQuery, _ listener: ListenedQuery.Listener) {
        defer { indexes.want() }
        do {
            guard let opened = try storage.local.targets.open(recent, lookingAt: slices.mostAtOnce)
            else {
                openings[recent.key] = Opening(recent: recent, listeners: [listener])
                return startOpening(recent.key)
            }
            let listened = show(opened, recent: recent, listener: listener)
            if listener.options.source != .cache { remote.listen(to: listened) }
        } catch { listener.observer(.failure(SyncError(storing: error))) }
    }

    private func show(
        _ opened: OpenedQuery, recent: RecentQuery, listener: ListenedQuery.Listener
    ) -> ListenedQuery {
        let id = opened.targetID
        // Another query of the same target may be synced already.
        let mirror = queries.of(target: id).first
        var delta = TargetDelta(resumeToken: opened.resumeToken)
        delta.isCurrent = mirror?.view.isFresh == true && reachability.state != .offline
        let listened = ListenedQuery(
            recent.key, targetID: id, recent.shape, synced: opened.synced, first: listener)
        let version = mirror?.view.readTime
        queries.add(listened)
        views.step(
            listened, .result(opened.documents, View.Target(delta: delta), version: version))
        return listened
    }

    // MARK: Going

    func remove(_ id: UInt64) {
        if !openings.isEmpty, removeFromOpening(id) { return }
        guard let listened = queries.containing(listener: id) else { return }
        listened.remove(id)
        remote.listenerLeft(listened)
    }

    /// - Returns: True if the listener belonged to a query that is still being opened.
    private func removeFromOpening(_ id: UInt64) -> Bool {
        for (key, opening) in openings {
            guard let place = opening.listeners.firstIndex(where: { $0.id == id }) else { continue }
            openings[key]!.listeners.remove(at: place)
            if opening.listeners.count == 1 {
                if let read = opening.read { slices.drop(read) }
                openings[key] = nil
            }
            return true
        }
        return false
    }

    /// Ends all listeners with an error.
    func endAll(_ error: SyncError) {
        for listened in queries.removeAll() {
            for listener in listened.listeners { listener.observer(.failure(error)) }
        }
        pauseOpenings()
        let waiting = openings.values.flatMap(\.listeners).sorted { $0.id < $1.id }
        openings = [:]
        for listener in waiting { listener.observer(.failure(error)) }
    }

    // MARK: Queries that take long to open

    private func startOpening(_ key: QueryKey) {
        let read = QueryRead(openings[key]!.recent.query, storage.local, .allocateTarget)
        openings[key]!.read = slices.beginLater(read, isOfListeners: true) { [weak self] error in
            self?.finishOpening(key, rows: read.rows, error: error)
        }
    }

    private func finishOpening(_ key: QueryKey, rows: [LocalDocument], error: SyncError?) {
        guard let opening = openings.removeValue(forKey: key) else { return }
        let first = opening.listeners[0]
        let listened: ListenedQuery
        do {
            if let error { throw error }
            listened = show(
                try storage.local.targets.open(opening.recent, rows), recent: opening.recent,
                listener: first)
        } catch {
            for listener in opening.listeners {
                listener.observer(.failure(SyncError(storing: error)))
            }
            return
        }
        if first.options.source != .cache { remote.listen(to: listened) }
        for listener in opening.listeners.dropFirst() where listened.isListened {
            join(listener, listened)
        }
    }

    /// Stops the openings until another cache is open.
    func pauseOpenings() {
        remote.stopReadingKeys()
        for (key, opening) in openings {
            if let read = opening.read { slices.drop(read) }
            openings[key]!.read = nil
        }
    }

    /// Restarts the openings with the present cache.
    func restartOpenings() {
        let order = openings.sorted { $0.value.listeners[0].id < $1.value.listeners[0].id }
        for (key, opening) in order where opening.read == nil { startOpening(key) }
    }
}
