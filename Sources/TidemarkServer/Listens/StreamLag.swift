import TidemarkModel
import TidemarkStore

/// The state of a stream that cannot receive its next snapshot yet: the first answer of a target is
/// sent in parts, or the reader has no room. Commits are not queued for the stream. Their changes
/// are in the log, and the stream receives all of them as a single step as soon as possible
/// (Decisions/0010).
struct StreamLag {
    /// The maximum number of targets that wait to be added on a stream, and their maximum bytes.
    static let maxWaiting = 10_000
    static let maxWaitingBytes = 16 << 20

    /// The time of the targets' last snapshot; nil if there was none.
    let since: Timestamp?
    var opening: PartialOpening?
    /// The targets that the client has added since, in order.
    private(set) var waiting: [ListenTarget] = []
    private var waitingBytes = 0

    init(since: Timestamp?, opening: PartialOpening? = nil) {
        self.since = since
        self.opening = opening
    }

    /// - Returns: False if too many targets wait.
    mutating func queue(_ request: ListenTarget) -> Bool {
        waitingBytes += 512 + request.size
        if waiting.count >= Self.maxWaiting || waitingBytes > Self.maxWaitingBytes { return false }
        waiting.append(request)
        return true
    }

    /// Forgets a target that waits or is being opened.
    mutating func remove(_ id: Int32) {
        if opening?.target.id == id { opening = nil }
        waiting.removeAll { $0.id == id }
    }
}
