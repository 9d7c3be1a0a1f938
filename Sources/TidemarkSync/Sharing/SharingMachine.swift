/// The behaviour of a process whose cache is shared with other processes: which process holds the
/// cache, and what the others do.
///
/// One process *holds* the cache: it has the file and the streams. The others *view* it: they read
/// copies, leave their writes in the cache's inbox, and take over when the holder releases the
/// cache. No process sends messages to another one: each process looks.
struct SharingMachine: Equatable, Sendable {
    /// The result of a look.
    enum Observation: Equatable, Sendable {
        /// The holder's result: whether writes wait in the inbox, and whether another process asks
        /// for the cache.
        case inbox(hasWrites: Bool, isWanted: Bool)
        /// A viewer's result: whether the holder has stored something since the copy was made.
        case copy(isOutdated: Bool)
    }

    enum Event: Equatable, Sendable {
        /// A cache was opened, or replaced by another one.
        case opened(isView: Bool)
        case looked(Observation)
        /// No process held the cache; this process holds it now.
        case tookOver
        /// This process has released the cache for another one, and views it now.
        case handedOver
        /// Another process holds the cache.
        case isHeld
        /// A new copy replaced the previous one, or no copy could be made.
        case copied(took: Duration)
        /// Writes were taken out of the inbox: all of them, or the maximum number of one step.
        case took(all: Bool)
        case paused
    }

    enum Effect: Equatable, Sendable {
        /// Look again after this time.
        case look(after: Duration)
        case takeWrites
        /// Open the cache if no process holds it.
        case tryToHold
        case askForCache
        case copy
        /// Release the cache, and view it.
        case handOver
    }

    private enum State: Equatable, Sendable {
        case idle
        case holding
        case viewing(isCopying: Bool)
    }

    let role: SyncEngine.ProcessRole
    private var state = State.idle
    /// The earliest time of the next copy. Copies take at most a tenth of the time.
    private var copiesAt = Duration.zero
    /// The earliest time of the next attempt to hold the cache. It is later after this process
    /// handed the cache over.
    private var holdsAt = Duration.zero

    /// The time until a viewer sees the holder's changes.
    static let pauseOfViewer = Duration.milliseconds(100)
    /// The time until the holder sends a viewer's writes.
    static let pauseOfHolder = Duration.milliseconds(250)
    /// The time until a viewer notices that no process holds the cache. Each attempt opens the
    /// file.
    static let pauseOfTrying = Duration.milliseconds(300)
    /// The time in which a process that asked for the cache must take it.
    static let timeToTake = Duration.seconds(2)
    private static let copyingShare = 10

    init(_ role: SyncEngine.ProcessRole) { self.role = role }

    /// - Parameter elapsed: The time of the engine's clock.
    mutating func step(_ event: Event, at elapsed: Duration) -> [Effect] {
        switch event {
        case .opened(let isView):
            state = isView ? .viewing(isCopying: false) : .holding
            return [.look(after: isView ? Self.pauseOfViewer : Self.pauseOfHolder)]
        case .paused:
            state = .idle
            return []
        case .looked(let observation): return looked(observation, at: elapsed)
        case .tookOver:
            state = .holding
            return [.takeWrites, .look(after: Self.pauseOfHolder)]
        case .handedOver: return [.look(after: Self.pauseOfViewer)]
        case .isHeld: return role == .app && state != .holding ? [.askForCache] : []
        case .copied(let took):
            guard case .viewing = state else { return [] }
            state = .viewing(isCopying: false)
            copiesAt = elapsed + took * (Self.copyingShare - 1)
            return []
        case .took(let all): return state == .holding && !all ? [.look(after: .zero)] : []
        }
    }

    private mutating func looked(_ observation: Observation, at elapsed: Duration) -> [Effect] {
        switch (state, observation) {
        case (.holding, .inbox(let hasWrites, let isWanted)):
            if isWanted, role == .helper {
                holdsAt = elapsed + Self.timeToTake
                state = .viewing(isCopying: false)
                return [.handOver]
            }
            return [.look(after: Self.pauseOfHolder)] + (hasWrites ? [.takeWrites] : [])
        case (.viewing(let isCopying), .copy(let isOutdated)):
            var effects: [Effect] = [.look(after: Self.pauseOfViewer)]
            if elapsed >= holdsAt {
                holdsAt = elapsed + Self.pauseOfTrying
                effects.append(.tryToHold)
            }
            if isOutdated, !isCopying, elapsed >= copiesAt {
                state = .viewing(isCopying: true)
                effects.append(.copy)
            }
            return effects
        default: return []
        }
    }
}
