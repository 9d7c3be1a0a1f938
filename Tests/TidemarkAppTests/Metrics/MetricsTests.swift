import CoreMetrics
import MetricsTestKit
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// The tasks that a test starts inherit the test's own metrics factory.
@Suite(.timeLimit(.minutes(2))) struct `Metrics` {
    private func marks(_ metrics: TestMetrics, _ mark: String, _ outcome: String) -> Int64 {
        metrics.counterTotal(
            label: "tidemark_marks", dimensions: [("mark", mark), ("outcome", outcome)])
    }

    @Test func `count what feeds do with their marks, and their calls`() async throws {
        let metrics = TestMetrics()
        try await LocalFirestore.start().whileRunning { local in
            let items = try local.firestore(label: "device").collection("items")
            let start = local.now
            try await items.document("a").setData([
                "at": start, "updatedAt": FieldValue.serverTimestamp(),
            ])
            local.advance(by: .seconds(600))
            let feed = try Feed(
                FeedDefinition(
                    query: items, itemTime: "at",
                    way: .changeTime("updatedAt", deletedField: nil)))
            try await feed.sync()
            try await withMetricsFactory(metrics) {
                #expect(metrics.counters.isEmpty)
                try await feed.sync()
                #expect(metrics.counterTotal(label: "tidemark_feed_calls") == 1)
                try await feed.markConsumed(through: start)
                #expect(marks(metrics, "consumption", "moved") == 1)
                try await feed.markConsumed(through: start.advanced(by: .seconds(-1)))
                #expect(marks(metrics, "consumption", "ignored") == 1)
                try await feed.clear(through: start)
                #expect(marks(metrics, "action", "moved") == 1)
                try await feed.clear(through: local.now.advanced(by: .seconds(3_600)))
                #expect(marks(metrics, "action", "clamped") == 1)
                try await feed.clear(throughMilliseconds: -1)
                #expect(marks(metrics, "action", "reset") == 1)
                #expect(marks(metrics, "consumption", "moved") == 1, "and nothing twice")
            }
        }
    }

    @Test func `count the parts, samples and reads of a backfill`() async throws {
        let metrics = TestMetrics()
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author").collection("items")
            let end = local.now
            for number in 1...7 {
                try await author.document("m\(number)").setData([
                    "at": end.advanced(by: .seconds(-number * 3_600))
                ])
            }
            let query = try local.firestore(label: "device").collection("items")
            let history = try QueryHistory(query, itemTime: "at", name: "items")
            let job = BackfillJob(
                name: "items", from: end.advanced(by: .seconds(-2 * 86_400)), to: end)
            let shown = try await withMetricsFactory(metrics) {
                let backfill = Backfill([.init(job, from: history, to: history)])
                let progress = await backfill.progress
                try await backfill.start()
                for await state in progress where state.phase == .complete { return state }
                return await backfill.current
            }
            #expect(shown.phase == .complete)
            #expect(metrics.counterTotal(label: "tidemark_backfill_samples") == 7)
            #expect(
                metrics.counterTotal(label: "tidemark_backfill_reads") == Int64(shown.reads))
            #expect(
                metrics.counterTotal(
                    label: "tidemark_backfill_parts", dimensions: [("outcome", "covered")])
                    == Int64(job.windowCount))
        }
    }
}
