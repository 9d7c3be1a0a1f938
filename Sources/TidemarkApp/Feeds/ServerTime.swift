package import Tidemark

/// A moment on a device, by both of its clocks.
package struct DeviceTime: Hashable, Sendable {
    /// The time of day according to the device. It can be wrong, and can be changed at any moment.
    package let wall: Timestamp
    /// The time since a point in this process. It never jumps, and has no meaning in the next
    /// process.
    package let elapsed: Duration

    package init(wall: Timestamp, elapsed: Duration) {
        self.wall = wall
        self.elapsed = elapsed
    }

    /// The present moment.
    init(_ environment: SyncEnvironment) {
        self.init(wall: environment.now(), elapsed: environment.scheduler.elapsed)
    }
}

/// An estimate of the server's clock, from the server's last answer and the time since then.
///
/// The time since the answer is measured by the clock that cannot be changed. So the estimate is
/// never ahead of the server's time, and is behind it by at most the duration of the answer's
/// transport. Nothing of this is stored. The next process starts with the server times in its own
/// data, until the server has answered it.
struct ServerTime: Hashable, Sendable {
    private var lastReadTime: Timestamp?
    private var heardAt: Duration?

    /// Takes each later time, even if the estimate was later still: two clocks never run at the
    /// same rate, and the differences must not add up.
    ///
    /// - Parameter now: The moment when the answer arrived. The moment of the request would be
    ///   wrong: the time of the call would be counted twice.
    mutating func learn(_ readTime: Timestamp, at now: DeviceTime) {
        if let lastReadTime, readTime <= lastReadTime { return }
        lastReadTime = readTime
        heardAt = now.elapsed
    }

    /// Returns nil before the first answer.
    func estimate(at now: DeviceTime) -> Timestamp? {
        guard let lastReadTime, let heardAt else { return nil }
        return lastReadTime.advanced(by: max(.zero, now.elapsed - heardAt))
    }
}
