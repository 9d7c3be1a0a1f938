import Foundation
import Synchronization
import TidemarkHealth

/// Passes a scripted HealthKit on, and measures the time of its answers, which is not ours.
final class TimedKit: HealthSampleSource {
    private struct State {
        var time = Duration.zero
        var anchors: [HealthAnchor] = []
    }

    private let source: ScriptedHealthSource
    private let state = Mutex(State())

    init(_ source: ScriptedHealthSource) { self.source = source }

    /// The time of all answers until now.
    var time: Duration { state.withLock { $0.time } }
    /// The anchor of each page, in order.
    var anchors: [HealthAnchor] { state.withLock { $0.anchors } }

    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage {
        let start = ContinuousClock.now
        let page = try await source.page(kind, after: anchor, limit: limit)
        state.withLock { state in
            state.time += .now - start
            state.anchors.append(page.anchor)
        }
        return page
    }

    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample] {
        let start = ContinuousClock.now
        let samples = try await source.samples(kind, in: range, limit: limit)
        state.withLock { $0.time += .now - start }
        return samples
    }

    func updates() -> AsyncStream<HealthUpdate> { source.updates() }
}
