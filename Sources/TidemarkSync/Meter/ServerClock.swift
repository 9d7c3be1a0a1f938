import TidemarkModel

/// The time of the server's clock, as far as it is known.
struct ServerClock: Equatable, Sendable {
    private struct Reading: Equatable {
        let time: Timestamp
        /// The scheduler's time of the reading.
        let elapsed: Duration

        func advanced(to elapsed: Duration) -> Timestamp {
            time.advanced(by: elapsed - self.elapsed)
        }
    }

    private var last: Reading?

    /// True if the server has sent a time.
    var isKnown: Bool { last != nil }

    /// Returns the server's time; the device's time before the first answer.
    func now(elapsed: Duration, device: () -> Timestamp) -> Timestamp {
        last?.advanced(to: elapsed) ?? device()
    }

    /// - Parameter time: The time in an answer that has just arrived. The time can be old; the
    ///   server's clock does not go back.
    mutating func heard(_ time: Timestamp?, elapsed: Duration) {
        guard let time, time > .epoch else { return }
        if let last, last.advanced(to: elapsed) > time { return }
        last = Reading(time: time, elapsed: elapsed)
    }
}
