import TidemarkModel

// What the listen stream says, into the cache and the views.

extension EngineCore {
    func received(_ response: ListenResponse) {
        if case .targetChange(let change) = response, change.targetIDs.isEmpty,
            let time = change.readTime, time < local.targets.lastVersion
        {
            // Older than what is shown already; the documents stay for the next snapshot.
            return
        }
        #if TIDEMARK_DEFECTS
            if isPlanted(.existenceFilterIgnored), case .existenceFilter = response { return }
            if isPlanted(.removalRace) { confuseRemovals(response) }
        #endif
        for effect in aggregator.step(.received(response), remoteKeys: remoteKeys) {
            switch effect {
            case .raise(let event): raise(event)
            case .rejected(let id, let status): rejected(id, status)
            }
        }
    }

    #if TIDEMARK_DEFECTS
        /// As if a target had the same id on every listen.
        private func confuseRemovals(_ response: ListenResponse) {
            guard case .targetChange(let change) = response, change.kind == .remove,
                change.cause == nil
            else { return }
            for old in change.targetIDs {
                guard let id = removedWireIDs.removeValue(forKey: old),
                    let wireID = remoteTargets[id]?.wireID
                else { continue }
                _ = aggregator.step(.stoppedListening(wireID: wireID), remoteKeys: remoteKeys)
            }
        }
    #endif

    private func raise(_ event: RemoteEvent) {
        let changed: [LocalDocument]
        do { changed = try local.remote.apply(event, isHeld: isHeld) } catch {
            return storageFailed()
        }
        for id in event.targets.keys {
            guard let target = local.targets[id] else { continue }
            remoteTargets[id]?.resumeToken = target.resumeToken
            remoteTargets[id]?.readTime =
                target.snapshotVersion == .epoch ? nil : target.snapshotVersion
        }
        var storms: [Int32] = []
        for (id, purpose) in event.mismatches.sorted(by: { $0.key < $1.key }) {
            // The token belongs to rows that are known to be wrong.
            guard remoteTargets[id] != nil else { continue }
            remoteTargets[id]!.resumeToken = []
            remoteTargets[id]!.readTime = nil
            sendUnlisten(id)
            if admitRequery(id) { sendListen(id, purpose: purpose) } else { storms.append(id) }
        }
        for (id, delta) in event.targets { tellLimbo(id, delta) }
        refreshViews(changed, event)
        for id in storms {
            let until = breakers[id]?.requeries.openUntil
            hold(id, .storm(until: until ?? environment.scheduler.elapsed))
        }
    }

    private func tellLimbo(_ id: Int32, _ delta: TargetDelta) {
        guard limbo.path(of: id) != nil else { return }
        if !delta.added.isEmpty || !delta.modified.isEmpty {
            perform(limbo.step(.received(targetID: id, exists: true)))
        } else if !delta.removed.isEmpty {
            perform(limbo.step(.received(targetID: id, exists: false)))
        }
    }

    /// Whether a view shows the document in this version, just as the cache has it.
    private func isHeld(_ path: DocumentPath, _ version: Timestamp) -> Bool {
        if !local.queue.pending.isEmpty, local.queue.pending.hasWrites(path) { return false }
        for query in queries.values {
            guard let document = query.view.document(at: path) else { continue }
            return document.document.updateTime == version && !document.hasLocalMutations
                && !document.hasCommittedMutations
        }
        return false
    }

    /// The server refused a target.
    private func rejected(_ id: Int32, _ status: RPCStatus) {
        if let path = limbo.path(of: id) { return rejectedLimbo(id, path) }
        remoteTargets[id] = nil
        for key in queriesByTarget[id] ?? [] {
            fail(key, .server(status))
        }
        closeTarget(id)
    }

    /// What may not be seen is as good as gone, but nothing says that it was deleted.
    private func rejectedLimbo(_ id: Int32, _ path: DocumentPath) {
        var event = RemoteEvent(version: local.targets.lastVersion)
        event.documents = [path: .missing(path, .min)]
        let changed: [LocalDocument]
        // Where it cannot be stored, the document is asked for again, and refused again.
        do { changed = try local.remote.apply(event) { _, _ in false } } catch {
            return storageFailed()
        }
        remoteTargets[id] = nil
        perform(limbo.step(.rejected(targetID: id)))
        refreshViews(changed, event)
    }

    // MARK: Views

    /// - Parameters:
    ///   - event: Nil when the change was made here.
    ///   - awaiting: When the documents came by a call: its read time.
    func refreshViews(
        _ changed: [LocalDocument], _ event: RemoteEvent?, awaiting: Timestamp? = nil
    ) {
        for followed in followers.values { followed.note(changed) }
        for key in orderedQueries {
            guard let id = queries[key]?.targetID else { continue }
            let target = event?.targets[id].map { delta in
                View.Target(delta: delta, isPendingReset: event?.mismatches[id] != nil)
            }
            let isConfirmed = event?.confirmed.contains(id) ?? false
            stepView(
                key,
                .documents(
                    changed, target, version: isConfirmed ? event?.version : nil,
                    awaiting: awaiting, isBehind: event != nil && !isConfirmed))
        }
    }

    func stepView(_ key: QueryKey, _ event: View.Event) {
        if let query = queries[key] { stepView(query, key, event) }
    }

    /// - Parameter key: The query's.
    func stepView(_ query: ListenedQuery, _ key: QueryKey, _ event: View.Event) {
        if event.tellsOfTarget {
            do { try readKeys(of: query) } catch { return fail(key, SyncError(storing: error)) }
        }
        var effects = query.view.step(event)
        if case .needsRefill? = effects.first,
            case .documents(_, let target, let version, _, let isBehind) = event
        {
            do {
                let rows = try refill(query, event)
                effects = query.view.step(
                    .result(rows, target, version: version, isBehind: isBehind))
            } catch { return fail(key, SyncError(storing: error)) }
        }
        perform(effects, of: query)
    }

    /// All rows of a view that lacks some.
    private func refill(
        _ query: ListenedQuery, _ event: View.Event
    ) throws -> [LocalDocument] {
        let rows = try local.documents.run(query.query)
        #if TIDEMARK_DEFECTS
            if isPlanted(.limitNotRefilled), case .documents(let told, _, _, _, _) = event {
                let known = Set(query.view.documents.map(\.path) + told.map(\.path))
                return rows.filter { known.contains($0.path) }
            }
        #endif
        return rows
    }

    /// Reads which documents a query's target has, unless that is known.
    func readKeys(of query: ListenedQuery) throws {
        if query.view.synced != nil { return }
        query.view.learn(synced: try local.targets.remoteKeys(of: query.targetID))
    }

    func readKeysOfAll() throws {
        for query in queries.values { try readKeys(of: query) }
    }

    private func perform(_ effects: consuming [View.Effect], of query: ListenedQuery) {
        // Mostly it is one, which is moved and not copied.
        if effects.count == 1 { return perform(effects.removeLast(), of: query) }
        for effect in effects { perform(effect, of: query) }
    }

    private func perform(_ effect: consuming View.Effect, of query: ListenedQuery) {
        let id = query.targetID
        switch consume effect {
        case .limbo(let path): enterLimbo(path, view: id)
        case .outOfLimbo(let path): perform(limbo.step(.left(path, view: id)))
        case .raise(let snapshot, let cached):
            #if TIDEMARK_DEFECTS
                let snapshot = leavesOutChange(snapshot)
            #endif
            let event = QueryListener.Event.snapshot(
                snapshot, hasCachedResults: cached, online.state)
            if let only = query.onlyListenerID { return tell(only, of: query, event) }
            for listener in query.listenerIDs { tell(listener, of: query, event) }
        case .needsRefill: preconditionFailure("a full result needs no refill")
        }
    }

    #if TIDEMARK_DEFECTS
        private func leavesOutChange(_ snapshot: ViewSnapshot) -> ViewSnapshot {
            guard isPlanted(.changeLeftOut), snapshot.changes.count > 1 else { return snapshot }
            var other = snapshot
            other.changes.removeLast()
            return other
        }
    #endif

    /// Of the first view that the document is in limbo of.
    private func limboTag(of path: DocumentPath) -> ReadTag {
        let views = limbo.viewIDs(of: path)
        let key = orderedQueries.first { queries[$0].map { views.contains($0.targetID) } ?? false }
        return key.flatMap { queries[$0]?.tag } ?? ReadTag()
    }

    func perform(_ effects: [LimboResolution.Effect]) {
        for effect in effects {
            #if TIDEMARK_DEFECTS
                if isPlanted(.limboUnresolved), case .listen = effect { continue }
            #endif
            switch effect {
            case .listen(let id, let path):
                listenRemotely(
                    RemoteTarget(
                        id: id, kind: .documents([path]), purpose: .limboResolution,
                        tag: limboTag(of: path)))
            case .unlisten(let id): unlistenRemotely(id)
            }
        }
    }
}
