/// A point in time, independent of calendar and time zone, from year 1 to year 9999.
///
/// Firestore stores microseconds. The wire and this type carry nanoseconds; a write truncates them.
public struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, negative before it.
    public let seconds: Int64
    /// The fraction of a second, always counted forwards: `0 ..< 1_000_000_000`.
    public let nanoseconds: Int32

    /// - Precondition: Both parts are in the range that Firestore can store.
    public init(seconds: Int64, nanoseconds: Int32) {
        precondition(Self.isValid(seconds: seconds, nanoseconds: nanoseconds), "out of range")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Makes a timestamp of microseconds since 1970, the unit of Firestore's document versions.
    ///
    /// - Precondition: The time is in years 1 to 9999.
    public init(microseconds: Int64) {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let borrow: Int64 = remainder < 0 ? 1 : 0
        self.init(
            seconds: quotient - borrow,
            nanoseconds: Int32((remainder + borrow * 1_000_000) * 1_000))
    }

    /// Makes a timestamp of milliseconds since 1970, the unit of Tidemark's marks in the API.
    ///
    /// - Precondition: The time is in years 1 to 9999.
    public init(milliseconds: Int64) {
        self.init(microseconds: milliseconds * 1_000)
    }

    /// The microseconds since 1970, rounded down.
    public var microseconds: Int64 { seconds * 1_000_000 + Int64(nanoseconds / 1_000) }

    /// The milliseconds since 1970, rounded down.
    public var milliseconds: Int64 { seconds * 1_000 + Int64(nanoseconds / 1_000_000) }

    /// The time rounded down to microseconds, the precision that Firestore stores.
    public var truncatedToMicroseconds: Timestamp {
        Timestamp(seconds: seconds, nanoseconds: nanoseconds / 1_000 * 1_000)
    }

    /// Returns true if Firestore can store a time of these parts: years 1 to 9999.
    public static func isValid(seconds: Int64, nanoseconds: Int32) -> Bool {
        (-62_135_596_800...253_402_300_799).contains(seconds)
            && (0..<1_000_000_000).contains(nanoseconds)
    }

    /// 1970-01-01T00:00:00Z.
    public static let epoch = Timestamp(seconds: 0, nanoseconds: 0)
    /// The first instant of year 1.
    public static let min = Timestamp(seconds: -62_135_596_800, nanoseconds: 0)
    /// The last microsecond of year 9999.
    public static let max = Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_000)
}

extension Timestamp: Comparable {
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension Timestamp {
    /// Returns the time `duration` later, truncated to microseconds and clamped to the range of the
    /// type.
    public func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (whole, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (delta, tooMuch) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        let (sum, overflow) = microseconds.addingReportingOverflow(delta)
        if tooLong || tooMuch || overflow { return duration < .zero ? .min : .max }
        return Timestamp(
            microseconds: Swift.min(
                Swift.max(sum, Self.min.microseconds), Self.max.microseconds))
    }

    /// Returns the time elapsed since `earlier`; negative if this time is before it.
    public func duration(since earlier: Timestamp) -> Duration {
        .microseconds(microseconds - earlier.microseconds)
    }
}
