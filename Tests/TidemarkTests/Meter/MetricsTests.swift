import CoreMetrics
import Synchronization
import Testing
import TidemarkTesting

@testable import Tidemark

@Suite struct MetricsTests {
    @Test func `reads are exported as counters by label, screen and cause`() async throws {
        let local = try LocalFirestore.start()
        let app = try local.firestore(
            label: "app", readBudgets: [ReadBudget(.all, readsPerDay: 2, .warn)])
        let metrics = CountingFactory()
        let export = app.readMeter.exportMetrics(to: metrics)
        _ = try await app.document("rooms/a").getDocument()
        _ = try await app.collection("rooms").counted(screen: "Home").getDocuments()
        // What was told before the report was asked for has been counted.
        _ = try await app.readMeter.report()
        #expect(
            metrics.values == [
                "tidemark_reads cause=get label=app screen=": 1,
                "tidemark_reads cause=get label=app screen=Home": 1,
                "tidemark_read_budgets_spent action=warn": 1,
            ])
        export.remove()
        _ = try await app.readMeter.report()
        _ = try await app.document("rooms/a").getDocument()
        _ = try await app.readMeter.report()
        #expect(metrics.values.values.reduce(0, +) == 3)
        await local.stop()
    }

    @Test func `attempts that failed are exported by what became of them`() async throws {
        let local = try LocalFirestore.start()
        let app = try local.firestore(label: "app")
        let metrics = CountingFactory()
        let export = app.readMeter.exportMetrics(to: metrics)
        await #expect(throws: FirestoreError.self) {
            try await app.runTransaction { transaction in
                transaction.updateData(["n": 1], forDocument: app.document("rooms/none"))
            }
        }
        _ = try await app.readMeter.report()
        #expect(metrics.values["tidemark_attempts_failed outcome=permanent next=end"] == 1)
        export.remove()
        await local.stop()
    }
}

private final class CountingFactory: MetricsFactory {
    private let counts = Mutex<[String: Int64]>([:])

    var values: [String: Int64] { counts.withLock { $0 } }

    private final class Handler: CounterHandler {
        let factory: CountingFactory
        let name: String

        init(_ factory: CountingFactory, _ name: String) {
            self.factory = factory
            self.name = name
        }

        func increment(by amount: Int64) {
            factory.counts.withLock { $0[name, default: 0] += amount }
        }

        func reset() { factory.counts.withLock { $0[name] = 0 } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler(self, label + dimensions.map { " \($0)=\($1)" }.joined())
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { preconditionFailure("only counters are made") }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        preconditionFailure("only counters are made")
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
