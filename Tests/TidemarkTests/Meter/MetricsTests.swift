import CoreMetrics
import Synchronization
import Testing
import TestSupport
import TidemarkTesting

@testable import Tidemark

struct MetricsTests {
    @Test func `reads are exported as counters by label, screen and cause`() async throws {
        let local = try LocalFirestore.start()
        let app = try local.firestore(
            label: "app", readBudgets: [ReadBudget(.all, readsPerDay: 2, .warn)])
        let metrics = CountingFactory()
        let export = app.readMeter.exportMetrics(to: metrics)
        _ = try await app.document("rooms/a").getDocument()
        _ = try await app.collection("rooms").counted(screen: "Home").getDocuments()
        // The report includes all reads that were reported before it.
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

    @Test func `what waits to be written is exported, and since when`() async throws {
        let local = try LocalFirestore.start()
        let app = try local.firestore()
        let metrics = CountingFactory()
        let export = app.readMeter.exportMetrics(to: metrics)
        func value(_ name: String) -> Int64? { metrics.gauges.withLock { $0[name] } }
        await app.disableNetwork()
        let receipt = try await app.document("rooms/a").enqueueSetData(["n": 1])
        // The number is recorded first, and then the time.
        try await until("the time of the oldest write is exported") {
            value("tidemark_writes_since") == local.now.seconds
        }
        #expect(value("tidemark_writes_pending") == 1)
        await app.enableNetwork()
        try await receipt.acknowledged()
        try await until("no write waits") { value("tidemark_writes_since") == 0 }
        #expect(value("tidemark_writes_pending") == 0)
        await #expect(throws: FirestoreError.self) {
            try await app.document("rooms/none").updateData(["n": 1])
        }
        try await until("a rejected write is exported") { value("tidemark_writes_rejected") == 1 }
        export.remove()
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
    /// The last value of each gauge.
    let gauges = Mutex<[String: Int64]>([:])

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

    private final class Recorder: RecorderHandler {
        let factory: CountingFactory
        let name: String

        init(_ factory: CountingFactory, _ name: String) {
            self.factory = factory
            self.name = name
        }

        func record(_ value: Int64) { factory.gauges.withLock { $0[name] = value } }
        func record(_ value: Double) { record(Int64(value)) }
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { Recorder(self, label) }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        preconditionFailure("only counters are made")
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
