/// The duration of the server's silence, and the time at which a read may try the server again
/// while it is offline.
///
/// Silence counts from the oldest call without an answer, so the next read does not wait as long
/// again. Times are the scheduler's.
struct ServerSilence: Equatable, Sendable {
    private var since: Duration?
    private var nextProbe = Duration.zero
    private var backoff = StreamBackoff()

    func duration(at now: Duration) -> Duration { since.map { now - $0 } ?? .zero }
    func mayProbe(at now: Duration) -> Bool { now >= nextProbe }

    mutating func asked(at now: Duration) { if since == nil { since = now } }
    /// Notes a message from the server.
    mutating func heard() { since = nil }

    /// Notes that a call did not reach the server. The next probe waits.
    mutating func unreachable(at now: Duration, jitter: Double) {
        since = nil
        nextProbe = now + backoff.nextDelay(elapsed: now, jitter: jitter)
    }

    /// Forgets all waits.
    mutating func forgetProbes() {
        nextProbe = .zero
        backoff.reset()
    }
}
