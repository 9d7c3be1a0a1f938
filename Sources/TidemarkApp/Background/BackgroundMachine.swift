/// What an app does while the system lets it run in the background, and in which order.
public enum BackgroundPart: String, Hashable, Sendable, CaseIterable {
    /// Sends the writes that wait.
    case outbox
    /// Brings feeds up to date.
    case feeds
    /// Goes on with history, in the time that is left.
    case backfill
}

/// What came of it.
public struct BackgroundReport: Hashable, Sendable {
    /// Done, all of it.
    public internal(set) var done: Set<BackgroundPart> = []
    /// Not done, or not all of it: in the next one.
    public internal(set) var unfinished: Set<BackgroundPart> = []

    public var isComplete: Bool { unfinished.isEmpty }
}

/// Decides alone. What the person has written and what they will look at go at the same time, as both wait
/// for the network; history has what time is left.
struct BackgroundMachine: Equatable {
    enum Event: Equatable {
        case began
        case ended(BackgroundPart, isDone: Bool)
        /// The budget is used up, or the system wants the app to end.
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
