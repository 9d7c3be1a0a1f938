import ArgumentParser
import Foundation
import HealthCore
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkHealth

/// Waits for states of the fitness app's screen, and prints the figures that are measured beside
/// it.
@MainActor
enum HealthScreen {
    static func untilSent(_ model: HealthModel) async throws {
        var samples = 0
        try await untilShown {
            guard let sending = model.sending else { return false }
            if sending.samples > samples { say("part") }
            samples = sending.samples
            return sending.phase == .complete || sending.phase == .failed
        }
        if let sending = model.sending, sending.phase == .failed {
            throw BackfillEnded(failures: sending.failures)
        }
    }

    /// Waits until the screen shows the last change, for at most ten seconds.
    static func untilFresh(_ model: HealthSummaryModel) async throws {
        do {
            try await within(.seconds(10)) {
                try await untilShown { isFresh(model.summary) }
            }
        } catch is TookTooLong {
            throw ValidationError("The screen did not show the last change within ten seconds.")
        }
    }

    /// Prints the duration of a summary's read, and the ratio of its duration during the import and
    /// the sending to this.
    static func notify(_ beside: SummaryReads, _ idle: SummaryReads) {
        let times = (beside: beside.times, idle: idle.times)
        for (share, name) in [(0.5, ""), (0.99, "p99 ")] {
            guard let alone = times.idle.percentile(share) else { continue }
            say("figure summary \(name)ms \(alone.milliseconds)")
            let ratio = (times.beside.percentile(share) ?? .zero) / max(alone, .nanoseconds(1))
            say("figure reads beside it, \(name)times idle \(ratio)")
        }
    }

    private static func isFresh(_ summary: HealthSummary) -> Bool {
        HealthSummary.Item.allCases.allSatisfy { summary.phase($0) == .fresh }
    }
}

/// The durations of reads of the eight values.
final class SummaryReads: Sendable {
    private let all = Mutex<[Duration]>([])

    var times: [Duration] { all.withLock { $0 } }

    /// Reads every few milliseconds, until there are `count` reads or the task is cancelled.
    func run(_ store: HealthStore, count: Int = .max) async throws {
        var read = 0
        while !Task.isCancelled, read < count {
            let time = try await Self.one(store)
            all.withLock { $0.append(time) }
            read += 1
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @concurrent
    private static func one(_ store: HealthStore) async throws -> Duration {
        let moment = HealthMoment.last(of: store)
        let start = ContinuousClock.now
        try store.read { snapshot in
            var summary = HealthSummary()
            try snapshot.read(Set(HealthSummary.Item.allCases), of: &summary, at: moment)
        }
        return .now - start
    }
}
