import CoreMetrics
import Foundation
import MetricsTestKit
import Synchronization
import Testing

@testable import TidemarkHealth

/// Every test has its own factory, which the tasks of the test inherit.
@Suite(.timeLimit(.minutes(2))) struct `Metrics of health data` {
    private let metrics = TestMetrics()

    private func imports(_ outcome: String) -> Int64 {
        metrics.counterTotal(label: "tidemark_health_imports", dimensions: [("outcome", outcome)])
    }

    private func samples(_ outcome: String) -> Int64 {
        metrics.counterTotal(label: "tidemark_health_samples", dimensions: [("outcome", outcome)])
    }

    /// A clock that advances by a step at each read. An import reads the clock twice.
    private final class Steps: Clock, Sendable {
        struct Instant: InstantProtocol {
            var time: Duration
            func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
            func duration(to other: Instant) -> Duration { other.time - time }
            static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
        }

        private let step: Duration
        private let looks = Mutex(0)

        init(_ step: Duration) { self.step = step }

        var now: Instant {
            let count = looks.withLock { looks in
                looks += 1
                return looks
            }
            return Instant(time: step * count)
        }
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
    }

    @Test func `count an import, what was in it, and how long it took`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let (bytes, _) = generated(HealthGenerator(days: 3, seed: 5))
        let file = try scratch.write(bytes)
        let health = HealthImport(into: store, clock: Steps(.milliseconds(70)))
        try await withMetricsFactory(metrics) {
            let first = try await health.run(file)
            #expect(imports("whole") == 1)
            #expect(first.added > 0 && samples("added") == Int64(first.added))
            #expect(samples("known") == Int64(first.duplicates))
            #expect(samples("ignored") == Int64(first.counts.ignored + first.counts.nested))
            #expect(samples("bad") == 0)
            let again = try await health.run(file)
            #expect(again.known == first.added)
            #expect(imports("whole") == 2 && samples("added") == Int64(first.added))
            #expect(samples("known") == Int64(2 * first.duplicates + again.known))
        }
        let timer = try metrics.expectTimer("tidemark_health_import_time")
        #expect(timer.values == [70_000_000, 70_000_000], "nanoseconds")
    }

    @Test func `notify imports apart that came to no end`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let (bytes, _) = generated(HealthGenerator(days: 3, seed: 5))
        let whole = try scratch.write(bytes)
        let short = try scratch.write(Array(bytes.prefix(bytes.count / 2)), as: "short.xml")
        try await withMetricsFactory(metrics) {
            let report = try await HealthImport(into: store).run(short)
            #expect(report.counts.isCutOff && imports("cut_off") == 1)
            await #expect(throws: HealthExportError.self) {
                try await HealthImport(into: store).run(scratch.path + "/nothing.xml")
            }
            #expect(imports("failed") == 1)
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await HealthImport(into: store).run(whole)
            }
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            #expect(imports("cancelled") == 1 && imports("whole") == 0)
        }
        #expect(try metrics.expectTimer("tidemark_health_import_time").values.count == 3)
    }

    @Test func `count samples as they come and go, rows, and days of another device`() async throws
    {
        let scratch = try Scratch()
        let store = try scratch.store()
        let sample = MadeSamples.steps(100, at: 480)
        let rows = """
            source,kind,start,value
            App,steps,2026-05-09T08:00:00Z,50
            App,steps,yesterday,1
            """
        let file = try scratch.write(Array(rows.utf8), as: "hours.csv")
        try await withMetricsFactory(metrics) {
            try await store.insert([sample, MadeSamples.steps(50, at: 600)])
            #expect(samples("added") == 2 && samples("known") == 0)
            try await store.insert([sample])
            #expect(samples("added") == 2 && samples("known") == 1)
            try await store.delete(ids: [sample.id])
            #expect(samples("removed") == 1)
            let report = try await HourlyRows(into: store).run(file)
            #expect(report.added == 1 && report.bad == 1)
            #expect(samples("added") == 3 && samples("bad") == 1)
            let days: Set = [HealthDay("2026-05-01")!, HealthDay("2026-05-02")!]
            try await store.receive([], of: days)
            #expect(metrics.counterTotal(label: "tidemark_health_days_received") == 2)
        }
    }
}
