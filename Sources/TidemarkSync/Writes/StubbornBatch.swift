import TidemarkModel

/// A batch at the head of the queue that the server keeps failing on, though it is reached: after a
/// while it counts as refused, so that those behind it are not held up for ever.
///
/// Both bounds must be passed, so that a fault of the server's that lasts minutes costs nobody a
/// write, and one that lasts hours one of them every ten minutes at most; none is lost, as rejected
/// writes are kept.
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

    /// - Returns: Whether to wait no longer.
    mutating func failed(elapsed: Duration) -> Bool {
        failures += 1
        return failures >= Self.mostFailures && elapsed - since >= Self.patience
    }
}
