import TidemarkModel

/// Why a target is not listened to for now.
enum HeldBack: Equatable, Sendable {
    case budget(ReadBudget)
    /// Its result was asked for again and again.
    case storm(until: Duration)
}

struct TargetBreakers: Equatable, Sendable {
    var requeries: StormBreaker
    var limbo: StormBreaker

    init(_ bounds: StormBreaker.Bounds) {
        requeries = StormBreaker(limit: bounds.requeries, bounds)
        limbo = StormBreaker(limit: bounds.limboDocuments, bounds)
    }
}

// Targets whose listeners are shown the cache for a while, and what becomes of them afterwards.

extension EngineCore {
    /// Stops listening to a target; its listeners are shown the cache, with the reason.
    func hold(_ id: Int32, _ reason: HeldBack) {
        heldBack[id] = reason
        unlistenRemotely(id)
        perform(limbo.step(.viewGone(id)))
        for key in queriesByTarget[id] ?? [] {
            if queries[key]?.view.isCurrent == true { stepView(key, .wentOffline) }
            tellReason(key)
        }
        scheduleRelease()
    }

    /// Tells why what is shown stays as it is: those who want to hear of more than rows, and those who
    /// have seen nothing yet and would wait for the server.
    private func tellReason(_ key: QueryKey) {
        guard let listened = queries[key] else { return }
        let view = listened.view
        let snapshot = ViewSnapshot(
            view.shape, rows: view.rows, changes: ChangeSet(), isFromCache: true,
            hasPendingWrites: view.hasPendingWrites, syncStateChanged: true, readTime: nil)
        for listener in listened.listenerIDs {
            tell(listener, of: key, .snapshot(snapshot, hasCachedResults: false, .offline))
        }
    }

    /// Whether a target may be listened to; if not, it is held back.
    func mayListen(_ key: QueryKey) -> Bool {
        guard let listened = queries[key] else { return false }
        let id = listened.targetID
        if let until = breakers[id]?.requeries.openUntil, until > environment.scheduler.elapsed {
            hold(id, .storm(until: until))
            return false
        }
        guard let budget = verdict(on: listened.tag).budget else { return true }
        hold(id, .budget(budget))
        return false
    }

    /// Why what a target's listeners see is old; nil when nothing keeps the server's word from them.
    func staleReason(of id: Int32) -> StaleReason? {
        if heldBack.isEmpty, breakers.isEmpty { return nil }
        switch heldBack[id] {
        case .budget(let budget): return .overBudget(budget)
        case .storm: return .readStorm(.requery)
        case nil: break
        }
        return breakers[id]?.limbo.openUntil == nil ? nil : .readStorm(.limbo)
    }

    private func scheduleRelease() {
        let now = environment.scheduler.elapsed
        var next: [Duration] = breakers.values.compactMap(\.limbo.openUntil)
        let nextDay = now + BillingDay(serverNow).end.duration(since: serverNow)
        for reason in heldBack.values {
            if case .storm(let until) = reason { next.append(until) } else { next.append(nextDay) }
        }
        guard let first = next.min() else { return cancelTimer(.heldBack) }
        schedule(.heldBack, after: max(.zero, first - now))
    }

    /// Listens again to what may be listened to, and asks for what waits in limbo.
    func releaseHeldBack() {
        for id in heldBack.keys.sorted() {
            guard let reason = heldBack[id] else { continue }
            if case .storm(let until) = reason, until > environment.scheduler.elapsed { continue }
            heldBack[id] = nil
            for key in queriesByTarget[id] ?? [] where queries[key]?.isRemote == true {
                listenRemotely(key)
            }
            if heldBack[id] == nil { resumeLimbo(of: id) }
        }
        let now = environment.scheduler.elapsed
        for id in breakers.keys.sorted() {
            guard let until = breakers[id]!.limbo.openUntil, until <= now else { continue }
            breakers[id]!.limbo.wake(at: now)
            if heldBack[id] == nil { resumeLimbo(of: id) }
        }
        scheduleRelease()
    }

    // MARK: Re-queries

    /// - Returns: Whether a target's whole result may be asked for again now.
    func admitRequery(_ id: Int32) -> Bool {
        let now = environment.scheduler.elapsed
        let isAdmitted = breakers[id, default: newBreakers].requeries.admit(at: now)
        if !isAdmitted, let until = breakers[id]?.requeries.openUntil {
            tellStorm(id, .requery, until)
        }
        return isAdmitted
    }

    private var newBreakers: TargetBreakers { TargetBreakers(configuration.stormBounds) }

    private func tellStorm(_ id: Int32, _ cause: ReadCause, _ until: Duration) {
        stormCount += 1
        let query = queriesByTarget[id]?.first.flatMap { queries[$0]?.query.canonicalID } ?? ""
        tellReads(
            .stormStopped(query: query, cause, pause: until - environment.scheduler.elapsed))
    }

    // MARK: Limbo

    /// A document of a view is in limbo: it is asked for, or waits until the storm is over.
    func enterLimbo(_ path: DocumentPath, view id: Int32) {
        let now = environment.scheduler.elapsed
        let wasOpen = breakers[id]?.limbo.openUntil != nil
        if breakers[id, default: newBreakers].limbo.admit(at: now) {
            return perform(limbo.step(.entered(path, view: id)))
        }
        guard let until = breakers[id]?.limbo.openUntil else { return }
        if !wasOpen { tellStorm(id, .limbo, until) }
        scheduleRelease()
    }

    /// After the pause: what is in limbo still, and was not asked for.
    private func resumeLimbo(of id: Int32) {
        let waiting = Set((queriesByTarget[id] ?? []).flatMap { queries[$0]?.view.limbo ?? [] })
        for path in waiting.sorted() where !limbo.isAsked(path, view: id) {
            enterLimbo(path, view: id)
            if breakers[id]?.limbo.openUntil != nil { return }
        }
    }

    /// Nobody listens to the target any more. Its breakers stay for as long as they are open, so that
    /// leaving and coming back is no way around them.
    func forgetHeldBack(_ id: Int32) {
        heldBack[id] = nil
        let now = environment.scheduler.elapsed
        guard breakers.count > Self.mostBreakers else { return }
        breakers = breakers.filter { queriesByTarget[$0.key] != nil || $0.value.isOpen(at: now) }
    }

    /// Beyond, those of targets that nobody listens to are forgotten.
    private static let mostBreakers = 1_000
}

extension TargetBreakers {
    fileprivate func isOpen(at now: Duration) -> Bool {
        [requeries.openUntil, limbo.openUntil].contains { $0.map { $0 > now } ?? false }
    }
}
