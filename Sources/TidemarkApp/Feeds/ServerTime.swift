import Tidemark

/// What is known of the server's clock: its last answer, and how long ago that was.
///
/// The device's clock may be wrong and may jump; only the time between two of its readings counts,
/// and never backwards.
struct ServerTime: Hashable, Sendable {
    private(set) var lastReadTime: Timestamp?
    private var deviceThen: Timestamp?

    mutating func learn(_ readTime: Timestamp, deviceNow: Timestamp) {
        if let lastReadTime, readTime < lastReadTime { return }
        lastReadTime = readTime
        deviceThen = deviceNow
    }

    /// Nil before the first answer.
    func estimate(deviceNow: Timestamp) -> Timestamp? {
        guard let lastReadTime, let deviceThen else { return nil }
        return lastReadTime.advanced(by: max(.zero, deviceNow.duration(since: deviceThen)))
    }
}
