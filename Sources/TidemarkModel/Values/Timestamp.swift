/// A point in time, independent of any calendar or zone, from year 1 to year 9999.
///
/// Firestore stores microseconds; the wire and this type carry nanoseconds, and what is written is
/// truncated on the way in.
public struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, negative before it.
    public let seconds: Int64
    /// Fraction of a second, counted forwards in time: `0 ..< 1_000_000_000`.
    public let nanoseconds: Int32

    /// - Precondition: Both parts are in the range that Firestore can store.
    public init(seconds: Int64, nanoseconds: Int32) {
        precondition(Self.isValid(seconds: seconds, nanoseconds: nanoseconds), "out of range")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Microseconds since 1970, as Firestore counts document versions.
    ///
    /// - Precondition: The time is in years 1 to 9999.
    public init(microseconds: Int64) {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let borrow: Int64 = remainder < 0 ? 1 : 0
        self.init(
            seconds: quotient - borrow,
            nanoseconds: Int32((remainder + borrow * 1_000_000) * 1_000))
    }

    /// Milliseconds since 1970, the unit of Tidemark's marks at the API.
    ///
    /// - Precondition: The time is in years 1 to 9999.
    public init(milliseconds: Int64) {
        self.init(microseconds: milliseconds * 1_000)
    }

    /// Microseconds since 1970; what is finer is cut off towards the past.
    public var microseconds: Int64 { seconds * 1_000_000 + Int64(nanoseconds / 1_000) }

    /// Milliseconds since 1970; what is finer is cut off towards the past.
    public var milliseconds: Int64 { seconds * 1_000 + Int64(nanoseconds / 1_000_000) }

    /// The same time with what Firestore does not store cut off.
    public var truncatedToMicroseconds: Timestamp {
        Timestamp(seconds: seconds, nanoseconds: nanoseconds / 1_000 * 1_000)
    }

    /// Whether the parts make a time that Firestore can store: years 1 to 9999.
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
    /// The time `duration` later, cut to microseconds and kept inside the range of the type.
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

    /// How long after `earlier` this is; negative when it is before.
    public func duration(since earlier: Timestamp) -> Duration {
        .microseconds(microseconds - earlier.microseconds)
    }
}
