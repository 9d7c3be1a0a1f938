/// A moment by which an answer must be there, by a clock that counts from some start: a scheduler's
/// elapsed time, a process's uptime. It is handed down unchanged, so that a step deep inside still
/// knows what is left of the whole.
public struct Deadline: Hashable, Comparable, Sendable {
    /// On the clock that it was made with.
    public let instant: Duration

    public init(at instant: Duration) { self.instant = instant }

    public init(in time: Duration, from now: Duration) { instant = now + time }

    /// Zero when it is past.
    public func remaining(at now: Duration) -> Duration { max(.zero, instant - now) }

    public func isPast(at now: Duration) -> Bool { now >= instant }

    public static func < (left: Self, right: Self) -> Bool { left.instant < right.instant }
}
