package import Tidemark

/// One moment on a device, by both of its clocks.
package struct DeviceTime: Hashable, Sendable {
    /// What it takes for the time of day: it may be wrong, and may be turned at any moment.
    package let wall: Timestamp
    /// Since a point of this process's own. It never jumps, and tells nothing to the next process.
    package let elapsed: Duration

    package init(wall: Timestamp, elapsed: Duration) {
        self.wall = wall
        self.elapsed = elapsed
    }

    /// Now.
    init(_ environment: SyncEnvironment) {
        self.init(wall: environment.now(), elapsed: environment.scheduler.elapsed)
    }
}

/// What is known of the server's clock: its last answer, and how long ago that was.
///
/// How long is measured by the clock that cannot be turned, so an estimate is never ahead of the
/// server's time: behind it by no more than an answer was under way. Nothing of it is stored; the next
/// process begins with what it has of the server's own times, until the server has answered it.
struct ServerTime: Hashable, Sendable {
    private var lastReadTime: Timestamp?
    private var heardAt: Duration?

    /// Each later time counts, also where it was estimated to be later still: two clocks never run
    /// alike, and the difference must not add up.
    ///
    /// - Parameter now: When the answer came. Not when it was asked for: what passed in between would
    ///   be counted twice.
    mutating func learn(_ readTime: Timestamp, at now: DeviceTime) {
        if let lastReadTime, readTime <= lastReadTime { return }
        lastReadTime = readTime
        heardAt = now.elapsed
    }

    /// Nil before the first answer.
    func estimate(at now: DeviceTime) -> Timestamp? {
        guard let lastReadTime, let heardAt else { return nil }
        return lastReadTime.advanced(by: max(.zero, now.elapsed - heardAt))
    }
}
