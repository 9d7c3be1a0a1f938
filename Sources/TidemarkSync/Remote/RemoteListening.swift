import TidemarkModel

/// Chooses the targets for the server: the targets of the listened queries that are not stopped,
/// and the documents in limbo. The server's answers are stored in the cache, and the views read
/// them there.
final class RemoteListening {
    private let context: EngineContext
    private let storage: CacheStorage
    private let slices: SlicedReads
    private let meter: BillingMeter
    private let connection: ListenConnection
    private let queries: ListenedQueries
    private let held: HeldTargets
    private let views: QueryViews
    private var limbo: LimboResolution

    init(
        _ context: EngineContext, storage: CacheStorage, slices: SlicedReads,
        meter: BillingMeter, connection: ListenConnection, queries: ListenedQueries,
        held: HeldTargets, views: QueryViews
    ) {
        self.context = context
        self.storage = storage
        self.slices = slices
        self.meter = meter
        self.connection = connection
        self.queries = queries
        self.held = held
        self.views = views
        limbo = LimboResolution(limit: context.configuration.maxLimboResolutions)
        connection.rowsOfTarget = { [unowned self] in rows(of: $0) }
    }

    /// The documents that are requested one by one, for tests.
    var documentsInLimbo: LimboResolution { limbo }

    private func rows(of id: Int32) -> Set<DocumentPath> {
        limbo.remoteKeys(of: id) ?? queries.rows(ofTarget: id)
    }

    // MARK: Targets of queries

    /// Requests a query's target from the server, unless the target is requested already, stopped,
    /// or about to be requested.
    func listen(to listened: ListenedQuery) {
        guard listened.isListened, let target = storage.local.targets[listened.targetID],
            connection.target(target.id) == nil, mayListen(listened)
        else { return }
        do {
            guard try knowsKeys(of: listened) else { return }
        } catch { return fail(listened, SyncError(storing: error)) }
        let kind: ListenTarget.Kind =
            listened.query.onlyDocument.map { .documents([$0]) }
            ?? .query(listened.query.wireForm)
        connection.listen(
            RemoteTarget(
                id: target.id, kind: kind, purpose: .listen, resumeToken: target.resumeToken,
                readTime: target.knownVersion, tag: listened.tag))
    }

    /// Requests all targets of remote listeners after another cache was opened.
    func listenToAll() {
        for listened in queries.inOrder where listened.isRemote { listen(to: listened) }
    }

    /// Returns true if the documents of a query's target are known. If there are many, they are
    /// read in slices, and the request to the server follows after that.
    private func knowsKeys(of listened: ListenedQuery) throws -> Bool {
        if listened.view.synced != nil { return true }
        if listened.keysRead != nil { return false }
        guard try storage.local.targets.hasRows(moreThan: slices.mostAtOnce, of: listened.targetID)
        else {
            try views.readKeys(of: listened)
            return true
        }
        let read = KeysRead(listened.targetID, storage.local)
        listened.setKeysRead(
            slices.beginLater(read) { [weak self] error in
                listened.setKeysRead(nil)
                guard let self, listened.isListened else { return }
                if let error { return fail(listened, error) }
                // Another read may have needed the keys immediately.
                if listened.view.synced == nil { listened.learn(synced: read.paths) }
                if listened.isRemote { listen(to: listened) }
            })
        return false
    }

    /// Stops the reads of keys until another cache is open.
    func stopReadingKeys() {
        queries.forEach { listened in
            if let read = listened.keysRead { slices.drop(read) }
            listened.setKeysRead(nil)
        }
    }

    /// Handles the exit of a listener from the query, perhaps of the last one.
    func listenerLeft(_ listened: ListenedQuery) {
        let id = listened.targetID
        if listened.listeners.isEmpty { drop(listened) }
        let others = queries.of(target: id)
        if others.isEmpty {
            close(id)
        } else if !others.contains(where: \.isRemote) {
            connection.unlisten(id)
            forgetHeld(id)
        }
    }

    /// Reports an error to a query's listeners once, and drops them.
    func fail(_ listened: ListenedQuery, _ error: SyncError) {
        guard drop(listened) else { return }
        for listener in listened.listeners { listener.observer(.failure(error)) }
        if !queries.has(target: listened.targetID) { close(listened.targetID) }
    }

    @discardableResult
    private func drop(_ listened: ListenedQuery) -> Bool {
        guard queries.remove(listened) else { return false }
        if let read = listened.keysRead { slices.drop(read) }
        return true
    }

    /// Ends a target without users.
    private func close(_ id: Int32) {
        connection.unlisten(id)
        perform(limbo.step(.viewGone(id)))
        forgetHeld(id)
        // If this fails, the cache merely keeps an older token.
        do { try storage.local.targets.release(id) } catch {}
    }

    /// Forgets all targets after another cache was opened; no stream is open then.
    func forgetAll() {
        limbo = LimboResolution(limit: context.configuration.maxLimboResolutions)
        held.forgetAll()
        connection.forgetAllTargets()
    }

    // MARK: What the server says

    func take(_ event: RemoteEvent) {
        let local = storage.local
        let changed: [LocalDocument]
        do { changed = try local.remote.apply(event, isHeld: views.isHeld) } catch {
            return context.storageFailed()
        }
        for id in event.targets.keys {
            if let stored = local.targets[id] { connection.update(id, stored) }
        }
        var storms: [Int32] = []
        for (id, purpose) in event.mismatches.sorted(by: { $0.key < $1.key }) {
            // The token belongs to rows that are known to be wrong.
            guard connection.giveUpRows(of: id) else { continue }
            if admitsRequery(id) {
                connection.send(id, purpose: purpose)
            } else {
                storms.append(id)
            }
        }
        for (id, delta) in event.targets { notifyLimbo(id, delta) }
        views.refresh(changed, event)
        for id in storms {
            let now = context.elapsed
            hold(id, .storm(until: held.storm(of: id, at: now) ?? now))
        }
    }

    private func notifyLimbo(_ id: Int32, _ delta: TargetDelta) {
        guard limbo.path(of: id) != nil else { return }
        if !delta.added.isEmpty || !delta.modified.isEmpty {
            perform(limbo.step(.received(targetID: id, exists: true)))
        } else if !delta.removed.isEmpty {
            perform(limbo.step(.received(targetID: id, exists: false)))
        }
    }

    /// Handles the server's refusal of a target.
    func rejected(_ id: Int32, _ status: RPCStatus) {
        if let path = limbo.path(of: id) { return rejectedLimbo(id, path) }
        if status.code == .invalidArgument, beginsAnew(id) { return }
        connection.forget(id)
        for listened in queries.of(target: id) { fail(listened, .server(status)) }
        close(id)
        if status.code == .permissionDenied { forgetTaken(id) }
    }

    /// Asks for a target once more from nothing, if it was to be resumed: the server no longer
    /// accepts the token or the time. Costs the whole result.
    ///
    /// - Returns: False if the target was not to be resumed, so the query itself is refused.
    private func beginsAnew(_ id: Int32) -> Bool {
        guard let refused = connection.target(id),
            !refused.resumeToken.isEmpty || refused.readTime != nil
        else { return false }
        do { try storage.local.remote.forgetToken(of: id) } catch {
            // The streams start again when the disk accepts writes, and the token is refused again.
            context.storageFailed()
            return true
        }
        connection.beginAnew(id)
        return true
    }

    /// Forgets a result that was taken over from another client's cache: it may be another user's.
    private func forgetTaken(_ id: Int32) {
        // If this fails, the documents stay until a listen reports about them.
        guard let changed = try? storage.local.takeOver.refused(id), !changed.isEmpty else {
            return
        }
        views.refresh(changed)
    }

    /// Hides a forbidden document without marking it as deleted, because the server did not say
    /// that it was deleted.
    private func rejectedLimbo(_ id: Int32, _ path: DocumentPath) {
        var event = RemoteEvent(version: storage.local.targets.lastVersion)
        event.documents = [path: .missing(path, .min)]
        let changed: [LocalDocument]
        // If the change cannot be stored, the document is requested again, and refused again.
        do { changed = try storage.local.remote.apply(event) { _, _ in false } } catch {
            return context.storageFailed()
        }
        connection.forget(id)
        perform(limbo.step(.rejected(targetID: id)))
        views.refresh(changed, event)
    }

    // MARK: Limbo

    /// Handles a view's document in limbo: requests it, or lets it wait until the storm is over.
    func enterLimbo(_ path: DocumentPath, view id: Int32) {
        switch held.admitLimbo(id, at: context.elapsed) {
        case .admitted: perform(limbo.step(.entered(path, view: id)))
        case .stopped(let until, let isNew):
            if isNew { notifyStorm(id, cause: .limbo, until: until) }
            scheduleRelease()
        }
    }

    func leaveLimbo(_ path: DocumentPath, view id: Int32) {
        perform(limbo.step(.left(path, view: id)))
    }

    private func perform(_ effects: [LimboResolution.Effect]) {
        for effect in effects {
            #if TIDEMARK_DEFECTS
                if context.isPlanted(.limboUnresolved), case .listen = effect { continue }
            #endif
            switch effect {
            case .listen(let id, let path):
                connection.listen(
                    RemoteTarget(
                        id: id, kind: .documents([path]), purpose: .limboResolution,
                        tag: limboTag(of: path)))
            case .unlisten(let id): connection.unlisten(id)
            }
        }
    }

    /// Returns the tag of the first view that has the document in limbo.
    private func limboTag(of path: DocumentPath) -> ReadTag {
        let views = limbo.viewIDs(of: path)
        return queries.inOrder.first { views.contains($0.targetID) }?.tag ?? ReadTag()
    }

    /// Requests the documents that are still in limbo and were not requested, after the pause.
    private func resumeLimbo(of id: Int32) {
        if held.isHeld(id) { return }
        let waiting = Set(queries.of(target: id).flatMap { $0.view.limbo })
        for path in waiting.sorted() where !limbo.isAsked(path, view: id) {
            enterLimbo(path, view: id)
            if held.isLimboStopped(of: id) { return }
        }
    }

    // MARK: Targets that are held back

    /// Stops the listen to a target; its listeners receive the cache's rows, with the reason.
    private func hold(_ id: Int32, _ reason: HeldBack) {
        held.hold(id, reason)
        connection.unlisten(id)
        perform(limbo.step(.viewGone(id)))
        for listened in queries.of(target: id) {
            if listened.view.isCurrent { views.step(listened, .wentOffline) }
            views.notifyReason(listened)
        }
        scheduleRelease()
    }

    /// Returns true if a target may be listened to; otherwise stops the target.
    private func mayListen(_ listened: ListenedQuery) -> Bool {
        let id = listened.targetID
        if let until = held.storm(of: id, at: context.elapsed) {
            hold(id, .storm(until: until))
            return false
        }
        let verdict = meter.verdict(on: listened.tag, isOpenCounted: false)
        guard let budget = verdict.budget else { return true }
        hold(id, .budget(budget))
        return false
    }

    private func admitsRequery(_ id: Int32) -> Bool {
        switch held.admitRequery(id, at: context.elapsed) {
        case .admitted: return true
        case .stopped(let until, _):
            notifyStorm(id, cause: .requery, until: until)
            return false
        }
    }

    private func notifyStorm(_ id: Int32, cause: ReadCause, until: Duration) {
        let query = queries.of(target: id).first?.query.canonicalID ?? ""
        meter.notify(.stormStopped(query: query, cause, pause: until - context.elapsed))
    }

    private func forgetHeld(_ id: Int32) {
        held.forget(id, at: context.elapsed, isListened: queries.has)
    }

    private func scheduleRelease() {
        let now = context.elapsed
        let first = held.nextRelease {
            let serverNow = meter.serverNow
            return now + BillingDay(serverNow).end.duration(since: serverNow)
        }
        guard let first else { return context.cancelTimer(.heldBack) }
        context.schedule(.heldBack, after: max(.zero, first - now))
    }

    /// Resumes the allowed listens, and requests the waiting documents in limbo.
    func releaseHeld() {
        for id in held.heldIDs where held.release(id, at: context.elapsed) {
            for listened in queries.of(target: id) where listened.isRemote {
                listen(to: listened)
            }
            resumeLimbo(of: id)
        }
        for id in held.wakeLimbo(at: context.elapsed) { resumeLimbo(of: id) }
        scheduleRelease()
    }

    /// Stops the listeners whose budgets are used up, after reads were billed to them.
    func enforceBudgets() {
        if !meter.stopsListeners { return }
        for id in connection.targetIDs {
            guard let target = connection.target(id), target.purpose == .listen else { continue }
            switch meter.verdict(on: target.tag, isOpenCounted: false) {
            case .allowed: break
            case .degraded(let budget): hold(id, .budget(budget))
            case .refused(let budget):
                for listened in queries.of(target: id) where listened.isRemote {
                    fail(listened, .overBudget(budget))
                }
            }
        }
    }
}
