/// A day as Firestore bills it: from midnight to midnight in Pacific time, by the server's clock.
/// The free reads of a day begin again at its start.
///
/// The code computes daylight saving time by the rule of 2007: from the second Sunday of March to
/// the first Sunday of November, at two o'clock. So devices without a table of time zones count the
/// same.
public struct BillingDay: Hashable, Comparable, Sendable {
    /// The number of days since 1970-01-01, in the calendar of Pacific time.
    public let number: Int

    public init(number: Int) { self.number = number }

    /// Creates the day that contains a time of the server's clock.
    public init(_ time: Timestamp) {
        let local = Int(time.seconds) + Self.offset(at: Int(time.seconds))
        number = local.dividedDown(by: Self.seconds)
    }

    /// The midnight at the end of the day.
    public var end: Timestamp {
        let midnight = (number + 1) * Self.seconds
        let summer = midnight - Self.summer
        let utc = Self.offset(at: summer) == Self.summer ? summer : midnight - Self.winter
        return Timestamp(seconds: Int64(utc), nanoseconds: 0)
    }

    public func advanced(by days: Int) -> BillingDay { BillingDay(number: number + days) }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    private static let seconds = 86_400
    private static let winter = -8 * 3_600
    private static let summer = -7 * 3_600

    private static func offset(at utc: Int) -> Int {
        let year = CivilDate(days: utc.dividedDown(by: seconds)).year
        // Two o'clock is 10:00 UTC before the first change, and 9:00 UTC before the second.
        let start = sunday(2, of: 3, in: year) * seconds + 10 * 3_600
        let end = sunday(1, of: 11, in: year) * seconds + 9 * 3_600
        return utc >= start && utc < end ? summer : winter
    }

    /// Returns the day number of a month's first or second Sunday.
    private static func sunday(_ count: Int, of month: Int, in year: Int) -> Int {
        let first = CivilDate(year: year, month: month, day: 1).days
        // 1970-01-01 was a Thursday.
        let weekday = (first + 4) % 7
        return first + (7 - weekday) % 7 + 7 * (count - 1)
    }
}

extension BillingDay: CustomStringConvertible {
    /// The date, for example `2026-11-21`.
    public var description: String { CivilDate(days: number).text }
}
