import TidemarkModel
import TidemarkStore

/// A change of the user that was asked for and is not done yet.
struct UserChange {
    let user: String?
    /// As of ``EngineCore/session``.
    let session: UInt64
    /// Whether what is kept of the user before is deleted, with the writes that were never sent.
    let erasesPrevious: Bool
    let completion: @Sendable (SyncError?) -> Void
}

/// What one user has waiting while another one uses the engine.
struct ParkedUser {
    var observers: [Int64: @Sendable (SyncEngine.WriteEvent) -> Void] = [:]
    /// Where caches are in memory: the store, as long as writes wait in it.
    var store: LocalStore?
}

// Switching users. Either user is the engine's, never both: everything that could fail comes before
// the one step in which the caches are swapped.

extension EngineCore {
    func changeUser(_ change: UserChange) {
        if state != .running || isReadOnly { return change.completion(writeRefusal) }
        if let fault = CacheFiles.fault(of: change.user) { return change.completion(fault) }
        if change.erasesPrevious, files.isShared {
            return change.completion(
                .invalidArgument("A cache that users share cannot be erased for one of them."))
        }
        let last = userChanges.last.map(\.user) ?? user
        if UserKey(last) == UserKey(change.user) { return change.completion(nil) }
        session = change.session
        userChanges.append(change)
        #if TIDEMARK_DEFECTS
            let underWay = pipeline
            defer { if isPlanted(.queueOfUserBefore), userChanges.isEmpty { sendAgain(underWay) } }
        #endif
        // Nothing that was asked for one user may be answered to, or stored for, the next one.
        stopStreams()
        endCalls(RPCStatus(.cancelled, "The user changed."), reads: .userChanged)
        endSlicedReads(.userChanged)
        pauseOpenings()
        // A batch whose end is not stored yet belongs to this user, as does a queue that is not in
        // its new cache yet: they go first.
        if unstoredOutcome == nil, !isDamaged { changeUsers() }
    }

    /// All changes that are asked for, in their order. One that fails is tried again later, and
    /// until then the engine serves nobody.
    ///
    /// - Returns: Whether none is left.
    @discardableResult
    func changeUsers() -> Bool {
        guard !userChanges.isEmpty else { return true }
        while let change = userChanges.first {
            do { try perform(change) } catch {
                if let fault = StorageFault(error) { transactionEnded(fault) }
                return false
            }
            userChanges.removeFirst()
            change.completion(nil)
        }
        storageIsBroken = false
        transactionEnded(nil)
        if networkEnabled { perform(online.step(.mayBeBack)) }
        for key in orderedQueries where queries[key]!.isRemote { listenRemotely(key) }
        restartOpenings()
        wantIndexes()
        startStreams()
        return true
    }

    private func perform(_ change: UserChange) throws {
        let location = files.location(of: change.user)
        if files.isShared {
            let changed = try local.queue.changeUser(to: change.user)
            swapObservers(to: change.user, store: nil)
            user = change.user
            forgetWriteStream()
            refreshViews(changed, nil)
            return
        }
        let asked = orderedQueries.map { queries[$0]!.query }
        if let parked = parkedUsers[UserKey(change.user)]?.store {
            return swap(to: parked, of: change, try parked.targets.reopen(asked))
        }
        let new = try LocalStore.opening(
            location, database: database, user: change.user, fault: environment.storageFault)
        do { swap(to: new, of: change, try new.targets.reopen(asked)) } catch {
            try? new.close()
            guard case .damaged? = StorageFault(error), case .file(let path) = location else {
                throw error
            }
            // It could be opened, and not read: the next attempt finds a new one.
            let renewed = try LocalStore.renewed(
                path, database: database, user: change.user, fault: environment.storageFault)
            try renewed.close()
            throw error
        }
    }

    /// Cannot fail: from here on the engine is the new user's.
    private func swap(to new: LocalStore, of change: UserChange, _ reopened: [OpenedQuery]) {
        let old = local
        let oldLocation = files.location(of: user)
        old.outcome = { _ in }
        let keeps = oldLocation == .memory && !old.queue.pending.isEmpty && !change.erasesPrevious
        swapObservers(
            to: change.user, store: keeps ? old : nil, erasesPrevious: change.erasesPrevious)
        user = change.user
        exchange(new, reopened)
        // Only newer tokens were to be written: without them the next listen reads a little more.
        if !keeps { try? old.close() }
        if change.erasesPrevious, case .file(let path) = oldLocation {
            do { try DocumentStore.erase(path) } catch {
                transactionEnded(StorageFault(error))
            }
        }
    }

    /// Puts another cache in the place of the present one, and tells the listeners what it holds.
    /// Cannot fail.
    func exchange(_ new: LocalStore, _ reopened: [OpenedQuery]) {
        #if TIDEMARK_DEFECTS
            if isPlanted(.overlaysOfUserBefore) { new.queue.keepOverlays(of: local.queue) }
            new.defects = environment.defects
        #endif
        local = new
        localIsDamaged = false
        local.outcome = { [unowned self] in localTransactionEnded($0) }
        local.elapsed = { [scheduler = environment.scheduler] in scheduler.elapsed }
        forgetWriteStream()
        collection = nil
        limbo = LimboResolution(limit: configuration.maxLimboResolutions)
        (heldBack, breakers) = ([:], [:])
        remoteTargets = [:]
        queriesByTarget = [:]
        for (key, query) in zip(orderedQueries, reopened) {
            queries[key]!.targetID = query.targetID
            queriesByTarget[query.targetID, default: []].append(key)
            stepView(
                key,
                .exchanged(
                    query.documents, synced: query.synced,
                    hasToken: !query.resumeToken.isEmpty))
        }
    }

    private func swapObservers(
        to next: String?, store: LocalStore?, erasesPrevious: Bool = false
    ) {
        let previous = UserKey(user)
        for waiter in pendingWriteWaiters { waiter.completion(.userChanged) }
        pendingWriteWaiters = []
        if erasesPrevious {
            for id in writeObservers.keys.sorted() { writeObservers[id]?(.failed(.userChanged)) }
        } else if !writeObservers.isEmpty || store != nil {
            parkedUsers[previous] = ParkedUser(observers: writeObservers, store: store)
        }
        writeObservers = parkedUsers.removeValue(forKey: UserKey(next))?.observers ?? [:]
    }

    private func forgetWriteStream() {
        writeStream = WriteStream(position: local.queue.writePosition)
        pipeline = []
        writesSingly = false
        stubborn = nil
        tellQueueLater()
    }

    #if TIDEMARK_DEFECTS
        /// As if the user's change had left the pipeline alone: of a planted defect.
        private func sendAgain(_ underWay: [MutationBatch]) {
            if underWay.isEmpty || !pipeline.isEmpty { return }
            pipeline = underWay
            fillPipeline()
        }
    #endif

    var orderedQueries: [QueryKey] {
        if queries.count < 2 { return Array(queries.keys) }
        return queries.keys.sorted { queries[$0]!.order < queries[$1]!.order }
    }

    /// Why nothing can be asked of the engine now; nil when it can.
    var refusal: SyncError? {
        switch state {
        case .running: break
        case .terminated: return .terminated
        case .refusing(let error): return error
        }
        guard !userChanges.isEmpty else { return nil }
        if case .failing(let fault) = storageHealth.state { return .storage(fault) }
        return .userChanged
    }

    /// Why nothing can be stored now; nil when it can.
    var writeRefusal: SyncError? { refusal ?? (isReadOnly ? .storage(.locked) : nil) }
}
