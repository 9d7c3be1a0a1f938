/// The work of an app in the background, within a time.
///
/// ```swift
/// let work = stack.backgroundWork { Backfill([.init(year, from: history, to: history)]) }
/// let report = await work.run(for: time)
/// ```
///
/// In SwiftUI it belongs in a scene's `backgroundTask(.appRefresh(…))`; elsewhere `BackgroundTask`
/// registers it with the system.
public struct BackgroundWork: Sendable {
    /// The work of a part. Returns true if all of it is done. It is cancelled when the time is
    /// over, and need not have returned by then.
    public typealias Action = @Sendable () async -> Bool

    private let actions: [BackgroundPart: Action]
    /// `run(for:clock:)` calls `began` before the first action and `ended` after the last.
    package var began: @Sendable () async -> Void = {}
    package var ended: @Sendable () async -> Void = {}

    /// - Parameter actions: The actions, by part.
    public init(_ actions: [BackgroundPart: Action]) { self.actions = actions }

    /// Runs the actions. Returns when all are done, when the time is over, or when the task is
    /// cancelled, as the system requires. In the last two cases it returns immediately, even if
    /// actions still run.
    ///
    /// - Parameters:
    ///   - time: The system's time without the time that the app needs to end: 25 s of the 30 s of
    ///     a refresh.
    ///   - clock: The clock that measures the time.
    public func run(
        for time: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async -> BackgroundReport {
        let (events, input) = AsyncStream.makeStream(of: BackgroundMachine.Event.self)
        var machine = BackgroundMachine(Set(actions.keys))
        var tasks: [BackgroundPart: Task<Void, Never>] = [:]
        let timer = Task {
            try? await clock.sleep(for: time)
            input.yield(.timeIsUp)
        }
        defer { timer.cancel() }
        await began()
        input.yield(.began)
        return await withTaskCancellationHandler {
            // The stream ends for a cancelled task, and this task must first receive that end.
            var iterator = events.makeAsyncIterator()
            while true {
                let event = await iterator.next() ?? .timeIsUp
                for effect in machine.step(event) {
                    switch effect {
                    case .start(let part):
                        let action = actions[part]!
                        tasks[part] = Task(priority: .utility) {
                            input.yield(.ended(part, isDone: await action()))
                        }
                    case .stop(let part): tasks[part]?.cancel()
                    case .finish(let report):
                        await ended()
                        return report
                    }
                }
            }
        } onCancel: {
            input.yield(.timeIsUp)
        }
    }
}
