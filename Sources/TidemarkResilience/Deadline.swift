/// The time by which an answer must be available, on a clock that counts from some start: a
/// scheduler's elapsed time, or a process's uptime. A deadline is passed down unchanged, so every
/// nested step knows how much of the whole time is left.
public struct Deadline: Hashable, Comparable, Sendable {
    /// The time on the clock with which the deadline was made.
    public let instant: Duration

    public init(at instant: Duration) { self.instant = instant }

    public init(in time: Duration, from now: Duration) { instant = now + time }

    /// Returns the time left; zero after the deadline.
    public func remaining(at now: Duration) -> Duration { max(.zero, instant - now) }

    public func isPast(at now: Duration) -> Bool { now >= instant }

    public static func < (left: Self, right: Self) -> Bool { left.instant < right.instant }
}
