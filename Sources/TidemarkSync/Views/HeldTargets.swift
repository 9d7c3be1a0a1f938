import TidemarkModel

/// Why a target is not listened to for now.
enum HeldBack: Equatable, Sendable {
    case budget(ReadBudget)
    /// Its result was asked for again and again.
    case storm(until: Duration)
}

/// Decides which targets are held back, so that their listeners are shown the cache for a while, and which
/// storms are over. It performs nothing; times are the scheduler's.
final class HeldTargets {
    /// What becomes of a request that may be one of a storm.
    enum Admission: Equatable {
        case admitted
        /// `isNew`: the storm began with this one.
        case stopped(until: Duration, isNew: Bool)
    }

    private struct Breakers {
        var requeries: StormBreaker
        var limbo: StormBreaker

        func isOpen(at now: Duration) -> Bool {
            [requeries.openUntil, limbo.openUntil].contains { $0.map { $0 > now } ?? false }
        }
    }

    private let bounds: StormBreaker.Bounds
    private var held: [Int32: HeldBack] = [:]
    private var breakers: [Int32: Breakers] = [:]
    /// Beyond, those of targets that nobody listens to are forgotten.
    private static let mostBreakers = 1_000

    init(_ bounds: StormBreaker.Bounds) { self.bounds = bounds }

    // MARK: What is held

    func isHeld(_ id: Int32) -> Bool { held[id] != nil }
    var heldIDs: [Int32] { held.keys.sorted() }

    /// Why what a target's listeners see is old; nil when nothing keeps the server's word from them.
    func reason(of id: Int32) -> StaleReason? {
        if held.isEmpty, breakers.isEmpty { return nil }
        switch held[id] {
        case .budget(let budget): return .overBudget(budget)
        case .storm: return .readStorm(.requery)
        case nil: break
        }
        return isLimboStopped(of: id) ? .readStorm(.limbo) : nil
    }

    /// Until when a target's result may not be asked for.
    func storm(of id: Int32, at now: Duration) -> Duration? {
        guard let until = breakers[id]?.requeries.openUntil, until > now else { return nil }
        return until
    }

    func hold(_ id: Int32, _ reason: HeldBack) { held[id] = reason }

    /// - Returns: Whether the target was held and may be listened to now.
    func release(_ id: Int32, at now: Duration) -> Bool {
        guard let reason = held[id] else { return false }
        if case .storm(let until) = reason, until > now { return false }
        held[id] = nil
        return true
    }

    /// When to look again; nil while nothing is held.
    ///
    /// - Parameter nextDay: When budgets begin anew.
    func nextRelease(nextDay: () -> Duration) -> Duration? {
        var next: [Duration] = breakers.values.compactMap(\.limbo.openUntil)
        for reason in held.values {
            if case .storm(let until) = reason {
                next.append(until)
            } else {
                next.append(nextDay())
            }
        }
        return next.min()
    }

    /// Nobody listens to the target any more. Its breakers stay for as long as they are open, so that
    /// leaving and coming back is no way around them.
    func forget(_ id: Int32, at now: Duration, isListened: (Int32) -> Bool) {
        held[id] = nil
        guard breakers.count > Self.mostBreakers else { return }
        breakers = breakers.filter { isListened($0.key) || $0.value.isOpen(at: now) }
    }

    func forgetAll() { (held, breakers) = ([:], [:]) }

    // MARK: Storms

    /// Whether a target's whole result may be asked for again now.
    func admitRequery(_ id: Int32, at now: Duration) -> Admission {
        let isAdmitted = breakers[id, default: closed].requeries.admit(at: now)
        guard !isAdmitted, let until = breakers[id]?.requeries.openUntil else { return .admitted }
        return .stopped(until: until, isNew: true)
    }

    /// Whether one more document in limbo may be asked for on behalf of a target.
    func admitLimbo(_ id: Int32, at now: Duration) -> Admission {
        let wasStopped = isLimboStopped(of: id)
        if breakers[id, default: closed].limbo.admit(at: now) { return .admitted }
        guard let until = breakers[id]?.limbo.openUntil else { return .admitted }
        return .stopped(until: until, isNew: !wasStopped)
    }

    func isLimboStopped(of id: Int32) -> Bool { breakers[id]?.limbo.openUntil != nil }

    /// - Returns: The targets whose documents in limbo may be asked for again.
    func wakeLimbo(at now: Duration) -> [Int32] {
        let ids = breakers.keys.sorted().filter { id in
            breakers[id]!.limbo.openUntil.map { $0 <= now } ?? false
        }
        for id in ids { breakers[id]!.limbo.wake(at: now) }
        return ids
    }

    private var closed: Breakers {
        Breakers(
            requeries: StormBreaker(limit: bounds.requeries, bounds),
            limbo: StormBreaker(limit: bounds.limboDocuments, bounds))
    }
}
