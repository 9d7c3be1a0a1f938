/// By when something must have an answer, as a reading of the caller's clock.
///
/// A reading is the time since any fixed moment, on a clock that does not go back. The clock stays
/// outside, so a deadline is a plain value and a test needs no waiting.
public struct Deadline: Hashable, Sendable {
    /// The reading at which it has passed; nil for never.
    public let instant: Duration?

    public init(at instant: Duration) { self.instant = instant }

    private init() { instant = nil }

    /// A deadline that never passes.
    public static let never = Deadline()

    /// `timeout` after the reading `now`; at once when it is negative, never when it is nil.
    public init(after timeout: Duration?, from now: Duration) {
        instant = timeout.map { now + Swift.max(.zero, $0) }
    }

    /// How long is left, zero when it has passed; nil when it never does.
    public func remaining(at now: Duration) -> Duration? {
        instant.map { Swift.max(.zero, $0 - now) }
    }

    public func hasPassed(at now: Duration) -> Bool {
        instant.map { now >= $0 } ?? false
    }

    /// Whether something that takes `duration` would end in time: a wait that cannot is not begun.
    public func allows(_ duration: Duration, at now: Duration) -> Bool {
        instant.map { now + duration <= $0 } ?? true
    }

    /// The earlier of the two.
    public func tightened(to other: Deadline) -> Deadline { other < self ? other : self }
}

extension Deadline: Comparable {
    /// Earlier is less; never is last.
    public static func < (left: Deadline, right: Deadline) -> Bool {
        switch (left.instant, right.instant) {
        case (let a?, let b?): a < b
        case (_?, nil): true
        case (nil, _): false
        }
    }
}
