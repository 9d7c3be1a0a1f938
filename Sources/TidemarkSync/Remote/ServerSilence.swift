/// How long the server has been silent, and when a read may try it again while it is offline.
///
/// Silence counts from the oldest call without an answer, so that the next read does not wait as long
/// again. Times are the scheduler's.
struct ServerSilence: Equatable, Sendable {
    private var since: Duration?
    private var nextProbe = Duration.zero
    private var backoff = StreamBackoff()

    func duration(at now: Duration) -> Duration { since.map { now - $0 } ?? .zero }
    func mayProbe(at now: Duration) -> Bool { now >= nextProbe }

    mutating func asked(at now: Duration) { if since == nil { since = now } }
    /// Something came from the server.
    mutating func heard() { since = nil }

    /// A call found no server: the next probe waits.
    mutating func unreachable(at now: Duration, jitter: Double) {
        since = nil
        nextProbe = now + backoff.nextDelay(elapsed: now, jitter: jitter)
    }

    /// Nothing is waited for any more.
    mutating func forgetProbes() {
        nextProbe = .zero
        backoff.reset()
    }
}
