import TidemarkModel

/// What the server's clock reads, as far as it is known.
struct ServerClock: Equatable, Sendable {
    private struct Reading: Equatable {
        let time: Timestamp
        /// By the scheduler.
        let elapsed: Duration

        func advanced(to elapsed: Duration) -> Timestamp {
            time.advanced(by: elapsed - self.elapsed)
        }
    }

    private var last: Reading?

    /// Whether the server has said what it reads.
    var isKnown: Bool { last != nil }

    /// Before the server was heard, the device's own.
    func now(elapsed: Duration, device: () -> Timestamp) -> Timestamp {
        last?.advanced(to: elapsed) ?? device()
    }

    /// - Parameter time: Of an answer that has just come. It may be of a while ago; the server's clock does
    ///   not go back.
    mutating func heard(_ time: Timestamp?, elapsed: Duration) {
        guard let time, time > .epoch else { return }
        if let last, last.advanced(to: elapsed) > time { return }
        last = Reading(time: time, elapsed: elapsed)
    }
}
