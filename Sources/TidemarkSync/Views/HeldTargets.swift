import TidemarkModel

/// The reason why a target is stopped.
enum HeldBack: Equatable, Sendable {
    case budget(ReadBudget)
    /// The target's result was requested too often.
    case storm(until: Duration)
}

/// Decides which targets are stopped, so their listeners see the cache for a while, and which
/// storms are over. It performs nothing; times are the scheduler's.
final class HeldTargets {
    /// The answer to a request that may belong to a storm.
    enum Admission: Equatable {
        case admitted
        /// The request is stopped. If `isNew` is true, the storm began with this request.
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
    /// The maximum number of breakers. Beyond it, the closed breakers of targets without listeners
    /// are deleted.
    private static let mostBreakers = 1_000

    init(_ bounds: StormBreaker.Bounds) { self.bounds = bounds }

    // MARK: What is held

    func isHeld(_ id: Int32) -> Bool { held[id] != nil }
    var heldIDs: [Int32] { held.keys.sorted() }

    /// Returns the reason why a target's listeners see old rows; nil if the target is not stopped.
    func reason(of id: Int32) -> StaleReason? {
        if held.isEmpty, breakers.isEmpty { return nil }
        switch held[id] {
        case .budget(let budget): return .overBudget(budget)
        case .storm: return .readStorm(.requery)
        case nil: break
        }
        return isLimboStopped(of: id) ? .readStorm(.limbo) : nil
    }

    /// Returns the time until which a target's result must not be requested.
    func storm(of id: Int32, at now: Duration) -> Duration? {
        guard let until = breakers[id]?.requeries.openUntil, until > now else { return nil }
        return until
    }

    func hold(_ id: Int32, _ reason: HeldBack) { held[id] = reason }

    /// - Returns: True if the target was stopped and may be listened to now.
    func release(_ id: Int32, at now: Duration) -> Bool {
        guard let reason = held[id] else { return false }
        if case .storm(let until) = reason, until > now { return false }
        held[id] = nil
        return true
    }

    /// Returns the time of the next release; nil while no target is stopped.
    ///
    /// - Parameter nextDay: Returns the time at which the budgets of the next day begin.
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

    /// Forgets a target without listeners. Its breakers stay while they are open, so a listener
    /// that leaves and returns cannot avoid them.
    func forget(_ id: Int32, at now: Duration, isListened: (Int32) -> Bool) {
        held[id] = nil
        guard breakers.count > Self.mostBreakers else { return }
        breakers = breakers.filter { isListened($0.key) || $0.value.isOpen(at: now) }
    }

    func forgetAll() { (held, breakers) = ([:], [:]) }

    // MARK: Storms

    /// Decides whether a target's whole result may be requested again now.
    func admitRequery(_ id: Int32, at now: Duration) -> Admission {
        let isAdmitted = breakers[id, default: closed].requeries.admit(at: now)
        guard !isAdmitted, let until = breakers[id]?.requeries.openUntil else { return .admitted }
        return .stopped(until: until, isNew: true)
    }

    /// Decides whether one more document in limbo may be requested for a target.
    func admitLimbo(_ id: Int32, at now: Duration) -> Admission {
        let wasStopped = isLimboStopped(of: id)
        if breakers[id, default: closed].limbo.admit(at: now) { return .admitted }
        guard let until = breakers[id]?.limbo.openUntil else { return .admitted }
        return .stopped(until: until, isNew: !wasStopped)
    }

    func isLimboStopped(of id: Int32) -> Bool { breakers[id]?.limbo.openUntil != nil }

    /// - Returns: The targets whose documents in limbo may be requested again.
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
