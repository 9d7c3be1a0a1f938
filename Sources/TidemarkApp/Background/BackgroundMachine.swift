/// The parts of an app's work in the background, in their order.
public enum BackgroundPart: String, Hashable, Sendable, CaseIterable {
    /// Sends the pending writes.
    case outbox
    /// Updates feeds.
    case feeds
    /// Continues with history, in the remaining time.
    case backfill
}

/// The result of work in the background.
public struct BackgroundReport: Hashable, Sendable {
    /// The completed parts.
    public internal(set) var done: Set<BackgroundPart> = []
    /// The incomplete parts, which continue in the next background time.
    public internal(set) var unfinished: Set<BackgroundPart> = []

    public var isComplete: Bool { unfinished.isEmpty }
}

/// Decides only. The user's writes and the feeds run concurrently, because both wait for the
/// network; history gets the remaining time.
struct BackgroundMachine: Equatable {
    enum Event: Equatable {
        case began
        case ended(BackgroundPart, isDone: Bool)
        /// The budget is used up, or the system ends the work.
        case timeIsUp
    }

    enum Effect: Equatable {
        case start(BackgroundPart)
        case stop(BackgroundPart)
        case finish(BackgroundReport)
    }

    private var waiting: Set<BackgroundPart>
    private var running: Set<BackgroundPart> = []
    private var report = BackgroundReport()
    private var isOver = false

    init(_ parts: Set<BackgroundPart>) { waiting = parts }

    mutating func step(_ event: Event) -> [Effect] {
        if isOver { return [] }
        switch event {
        case .began: return proceed()
        case .ended(let part, let isDone):
            guard running.remove(part) != nil else { return [] }
            if isDone { report.done.insert(part) } else { report.unfinished.insert(part) }
            return running.isEmpty ? proceed() : []
        case .timeIsUp:
            let stopped = Self.inOrder(running)
            report.unfinished.formUnion(running.union(waiting))
            return stopped.map(Effect.stop) + finish()
        }
    }

    private mutating func proceed() -> [Effect] {
        let urgent = waiting.intersection([.outbox, .feeds])
        let next = urgent.isEmpty ? waiting : urgent
        if next.isEmpty { return finish() }
        waiting.subtract(next)
        running = next
        return Self.inOrder(next).map(Effect.start)
    }

    private mutating func finish() -> [Effect] {
        isOver = true
        return [.finish(report)]
    }

    private static func inOrder(_ parts: Set<BackgroundPart>) -> [BackgroundPart] {
        BackgroundPart.allCases.filter(parts.contains)
    }
}
