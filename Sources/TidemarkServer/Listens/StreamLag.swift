import TidemarkModel
import TidemarkStore

/// What keeps a stream from its next snapshot: a target whose first answer goes out in parts, or a
/// reader without room. Commits are not queued for it. What they changed is in the log, and the stream
/// is told all of it as one step, once it can be (Decisions/0010).
struct StreamLag {
    /// Targets that may wait to be added on one stream, and the bytes that they may take.
    static let maxWaiting = 10_000
    static let maxWaitingBytes = 16 << 20

    /// As of when its targets were told last; nil when it has had none.
    let since: Timestamp?
    var opening: PartialOpening?
    /// Targets that its client has added meanwhile, in order.
    private(set) var waiting: [ListenTarget] = []
    private var waitingBytes = 0

    init(since: Timestamp?, opening: PartialOpening? = nil) {
        self.since = since
        self.opening = opening
    }

    /// - Returns: False when too many wait.
    mutating func queue(_ request: ListenTarget) -> Bool {
        waitingBytes += 512 + request.size
        if waiting.count >= Self.maxWaiting || waitingBytes > Self.maxWaitingBytes { return false }
        waiting.append(request)
        return true
    }

    /// Forgets a target that is not there yet.
    mutating func remove(_ id: Int32) {
        if opening?.target.id == id { opening = nil }
        waiting.removeAll { $0.id == id }
    }
}
