import Synchronization
package import TidemarkModel

/// Measures the jobs of another scheduler: how long each occupies the engine, and which was the
/// longest. It serves benchmarks and tests; other engines have no overhead.
package final class MeasuringScheduler: EngineScheduler {
    /// A measured job.
    package struct Step: Hashable, Sendable {
        package var duration: Duration
        /// The request during which the job ran, as named by ``MeasuringScheduler/begin(_:)``, or
        /// the timer that fired.
        package var name: String
    }

    private struct State {
        var name = ""
        var longest: [String: Step] = [:]
    }

    private let jobs: any EngineScheduler
    private let state = Mutex(State())
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now

    package init(_ jobs: any EngineScheduler) { self.jobs = jobs }

    /// The real time, even if the other scheduler is virtual.
    package var elapsed: Duration { start.duration(to: .now) }

    /// Names the next request.
    package func begin(_ name: String) { state.withLock { $0.name = name } }

    /// The longest job of each name so far.
    package var longest: [Step] {
        state.withLock { Array($0.longest.values) }.sorted { $0.duration > $1.duration }
    }

    package func forget() { state.withLock { $0.longest = [:] } }

    package func enqueue(_ job: @escaping @Sendable () -> Void) {
        jobs.enqueue { self.measure(nil, job) }
    }

    package func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        jobs.schedule(id, after: delay) { self.measure(id, job) }
    }

    private func measure(_ timer: TimerID?, _ job: @Sendable () -> Void) {
        let duration = clock.measure(job)
        state.withLock { state in
            let name = timer.map { "timer \($0.rawValue)" } ?? state.name
            let known = state.longest[name]?.duration ?? .zero
            if duration > known { state.longest[name] = Step(duration: duration, name: name) }
        }
    }
}
