import TidemarkModel

/// A batch at the head of the queue on which a reachable server fails again and again. After a
/// while the batch counts as refused, so it does not block the later batches forever.
///
/// Both limits must be passed. So a server fault of minutes refuses no write, and a fault of hours
/// refuses at most one write every ten minutes. No write is lost, because rejected writes are
/// stored.
struct StubbornBatch: Equatable, Sendable {
    let batch: Int64
    private var failures = 0
    private let since: Duration

    static let mostFailures = 10
    static let patience = Duration.seconds(600)

    init(batch: Int64, elapsed: Duration) {
        self.batch = batch
        since = elapsed
    }

    /// - Returns: True if the wait is over.
    mutating func failed(elapsed: Duration) -> Bool {
        failures += 1
        return failures >= Self.mostFailures && elapsed - since >= Self.patience
    }
}
