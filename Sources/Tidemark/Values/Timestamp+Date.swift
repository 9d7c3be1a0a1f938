public import Foundation

extension Timestamp {
    /// Creates the time as Firestore stores it, in microseconds. A date outside the years 1 to 9999
    /// becomes the nearest valid time.
    public init(date: Date) {
        self = Timestamp(checked: date) ?? (date.timeIntervalSince1970 < 0 ? .min : .max)
    }

    /// Returns nil outside the years 1 to 9999.
    init?(checked date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        guard
            microseconds >= Double(Timestamp.min.microseconds),
            microseconds <= Double(Timestamp.max.microseconds)
        else { return nil }
        self.init(microseconds: Int64(microseconds))
    }

    /// The time as a `Date`, which is precise to about a microsecond.
    public func dateValue() -> Date {
        Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1_000_000_000)
    }
}

extension Timestamp {
    /// Creates the current time of the device's clock.
    public init() { self.init(date: Date()) }

    public func compare(_ other: Timestamp) -> ComparisonResult {
        self == other ? .orderedSame : self < other ? .orderedAscending : .orderedDescending
    }
}
