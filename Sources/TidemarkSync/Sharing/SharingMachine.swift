/// What a process does about a cache that other processes use too: who holds it, and what those do that do
/// not.
///
/// One process *holds* the cache: it has the file, and the streams. The others *view* it: they read copies,
/// leave their writes in the cache's inbox, and take over when the holder lets go. Nobody is told anything by
/// another process: each looks.
struct SharingMachine: Equatable, Sendable {
    /// What was seen when it looked.
    enum Sight: Equatable, Sendable {
        /// By the holder: whether writes wait in the inbox, and whether somebody asks for the cache.
        case inbox(hasWrites: Bool, isWanted: Bool)
        /// By a viewer: whether the holder has stored something since the copy was made.
        case copy(isOutdated: Bool)
    }

    enum Event: Equatable, Sendable {
        /// A cache was opened, or put in another one's place.
        case opened(isView: Bool)
        case looked(Sight)
        /// Nobody had the cache: this process holds it now.
        case tookOver
        /// Somebody has it.
        case isHeld
        /// A new copy took the place of the one before, or there was none.
        case copied(took: Duration)
        /// Writes were taken out of the inbox: all, or as many as are taken at once.
        case took(all: Bool)
        case paused
    }

    enum Effect: Equatable, Sendable {
        /// Look again after a while.
        case look(after: Duration)
        case takeWrites
        /// Open the cache, if nobody has it.
        case tryToHold
        case askForCache
        case copy
        /// Let go of the cache, and view it.
        case handOver
    }

    private enum State: Equatable, Sendable {
        case idle
        case holding
        case viewing(isCopying: Bool)
    }

    let role: SyncEngine.ProcessRole
    private var state = State.idle
    /// When a copy may be made again: copying takes a tenth of the time at most.
    private var copiesAt = Duration.zero
    /// When it tries to hold the cache again: later after it handed it over.
    private var holdsAt = Duration.zero

    /// How soon a viewer sees what the holder stored.
    static let pauseOfViewer = Duration.milliseconds(100)
    /// How soon the holder sends what a viewer wrote.
    static let pauseOfHolder = Duration.milliseconds(250)
    /// How soon a viewer finds that nobody holds the cache. Trying opens the file.
    static let pauseOfTrying = Duration.milliseconds(300)
    /// How long the one who asked for the cache has to take it.
    static let timeToTake = Duration.seconds(2)
    private static let copyingShare = 10

    init(_ role: SyncEngine.ProcessRole) { self.role = role }

    /// - Parameter elapsed: Of the engine's clock.
    mutating func step(_ event: Event, at elapsed: Duration) -> [Effect] {
        switch event {
        case .opened(let isView):
            state = isView ? .viewing(isCopying: false) : .holding
            return [.look(after: isView ? Self.pauseOfViewer : Self.pauseOfHolder)]
        case .paused:
            state = .idle
            return []
        case .looked(let sight): return looked(sight, at: elapsed)
        case .tookOver:
            state = .holding
            return [.takeWrites, .look(after: Self.pauseOfHolder)]
        case .isHeld: return role == .app && state != .holding ? [.askForCache] : []
        case .copied(let took):
            guard case .viewing = state else { return [] }
            state = .viewing(isCopying: false)
            copiesAt = elapsed + took * (Self.copyingShare - 1)
            return []
        case .took(let all): return state == .holding && !all ? [.look(after: .zero)] : []
        }
    }

    private mutating func looked(_ sight: Sight, at elapsed: Duration) -> [Effect] {
        switch (state, sight) {
        case (.holding, .inbox(let hasWrites, let isWanted)):
            if isWanted, role == .helper {
                holdsAt = elapsed + Self.timeToTake
                state = .viewing(isCopying: false)
                return [.handOver, .look(after: Self.pauseOfViewer)]
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
