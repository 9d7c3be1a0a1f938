/// What an app does while the system lets it run in the background, within a time.
///
/// ```swift
/// let work = stack.backgroundWork { Backfill([.init(year, from: history, to: history)]) }
/// let report = await work.run(for: time)
/// ```
///
/// In SwiftUI it goes into a scene's `backgroundTask(.appRefresh(…))`; elsewhere `BackgroundTask` registers
/// it with the system.
public struct BackgroundWork: Sendable {
    /// What a part does. Returns whether it is done, all of it; is cancelled when the time is over, and
    /// need not have returned then.
    public typealias Act = @Sendable () async -> Bool

    private let acts: [BackgroundPart: Act]
    /// Called before the first act and after the last one.
    package var began: @Sendable () async -> Void = {}
    package var ended: @Sendable () async -> Void = {}

    /// - Parameter acts: What there is to do.
    public init(_ acts: [BackgroundPart: Act]) { self.acts = acts }

    /// Does it. Returns when all is done, when the time is over, or when the task is cancelled, as the
    /// system asks for; and then at once, whatever still has to end.
    ///
    /// - Parameters:
    ///   - time: What the system gives, less what the app needs to end: 25 s of the 30 s of a refresh.
    ///   - clock: Measures it.
    public func run(
        for time: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async -> BackgroundReport {
        let (events, input) = AsyncStream.makeStream(of: BackgroundMachine.Event.self)
        var machine = BackgroundMachine(Set(acts.keys))
        var tasks: [BackgroundPart: Task<Void, Never>] = [:]
        let timer = Task {
            try? await clock.sleep(for: time)
            input.yield(.timeIsUp)
        }
        defer { timer.cancel() }
        await began()
        input.yield(.began)
        return await withTaskCancellationHandler {
            // A stream ends for a task that is cancelled, and this one has to hear of that first.
            var iterator = events.makeAsyncIterator()
            while true {
                let event = await iterator.next() ?? .timeIsUp
                for effect in machine.step(event) {
                    switch effect {
                    case .start(let part):
                        let act = acts[part]!
                        tasks[part] = Task(priority: .utility) {
                            input.yield(.ended(part, isDone: await act()))
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
