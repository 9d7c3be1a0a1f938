public import CoreMetrics
import Synchronization

extension ReadMeter {
    /// Counts reads in swift-metrics too, from now on until the returned handle is removed.
    ///
    /// The counters are `tidemark_reads` by `label`, `screen` and `cause`, `tidemark_read_storms`
    /// by `cause`, `tidemark_read_budgets_spent` by `action`, and `tidemark_attempts_failed` by
    /// `outcome` and by the `next` step, a `retry` or the `end`. The gauges of the queue of writes
    /// are `tidemark_writes_pending`, `tidemark_writes_rejected`, and `tidemark_writes_since`: the
    /// time of the oldest pending write in seconds since 1970, 0 if there is none.
    ///
    /// - Parameter factory: The factory of the metrics; nil for the process's own.
    public func exportMetrics(
        to factory: (any MetricsFactory)? = nil
    ) -> any ListenerRegistration {
        let factory = factory ?? MetricsSystem.factory
        let (counters, queue) = (ReadCounters(factory), QueueGauges(factory))
        return Registration { _ in
            BothCalls(
                firestore.engine.observeReads { counters.count($0) },
                firestore.engine.observeWriteQueue { queue.record($0) })
        }
    }
}

private final class BothCalls: CancellableCall {
    private let first: any CancellableCall
    private let second: any CancellableCall

    init(_ first: any CancellableCall, _ second: any CancellableCall) {
        (self.first, self.second) = (first, second)
    }

    func cancel() {
        first.cancel()
        second.cancel()
    }
}

/// The gauges of the queue of writes.
private struct QueueGauges: Sendable {
    private let pending: Gauge
    private let rejected: Gauge
    private let since: Gauge

    init(_ factory: any MetricsFactory) {
        pending = Gauge(label: "tidemark_writes_pending", factory: factory)
        rejected = Gauge(label: "tidemark_writes_rejected", factory: factory)
        since = Gauge(label: "tidemark_writes_since", factory: factory)
    }

    func record(_ state: WriteQueueState) {
        pending.record(state.pending)
        rejected.record(state.rejected)
        since.record(state.oldest?.seconds ?? 0)
    }
}

/// The counters that were used, made once each.
private final class ReadCounters: Sendable {
    /// The maximum number of counters. Beyond it, labels and screens are counted together, because
    /// a metrics backend stores each combination.
    private static let most = 1_000

    private let factory: any MetricsFactory
    private let counters = Mutex<[[String]: Counter]>([:])

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func count(_ event: ReadEvent) {
        switch event {
        case .billed(let row):
            add(
                row.reads, to: "tidemark_reads",
                [("cause", row.cause.rawValue), ("label", row.label), ("screen", row.screen)])
        case .budgetSpent(let budget, _):
            add(1, to: "tidemark_read_budgets_spent", [("action", budget.action.rawValue)])
        case .budgetReached: break
        case .stormStopped(_, let cause, _):
            add(1, to: "tidemark_read_storms", [("cause", cause.rawValue)])
        case .attemptFailed(let attempt, let delay):
            add(
                1, to: "tidemark_attempts_failed",
                [("outcome", attempt.outcome ?? "left"), ("next", delay == nil ? "end" : "retry")])
        }
    }

    private func add(_ count: Int, to label: String, _ dimensions: [(String, String)]) {
        let counter = counters.withLock { counters in
            var dimensions = dimensions
            var key = [label] + dimensions.map(\.1)
            if counters[key] == nil, counters.count >= Self.most, dimensions.count > 1 {
                dimensions = [dimensions[0]] + dimensions.dropFirst().map { ($0.0, "other") }
                key = [label] + dimensions.map(\.1)
            }
            if let counter = counters[key] { return counter }
            let made = Counter(label: label, dimensions: dimensions, factory: factory)
            counters[key] = made
            return made
        }
        counter.increment(by: count)
    }
}
