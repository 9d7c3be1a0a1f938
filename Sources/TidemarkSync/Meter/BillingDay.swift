public import TidemarkModel

/// A day as Firestore bills it: from midnight to midnight in Pacific time, by the server's clock. The
/// free reads of a day begin anew at its start.
///
/// The rule of daylight saving is the one of 2007 (from the second Sunday of March to the first of
/// November, at two o'clock), worked out here: devices without a table of time zones count the same.
public struct BillingDay: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01, in the calendar of that place.
    public let number: Int

    public init(number: Int) { self.number = number }

    /// The day in which the server's clock read this.
    public init(_ time: Timestamp) {
        let local = Int(time.seconds) + Self.offset(at: Int(time.seconds))
        number = local.dividedDown(by: Self.seconds)
    }

    /// The midnight with which it ends.
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
        // Two o'clock is 10:00 UTC before the first change, and 9:00 before the second.
        let start = sunday(2, of: 3, in: year) * seconds + 10 * 3_600
        let end = sunday(1, of: 11, in: year) * seconds + 9 * 3_600
        return utc >= start && utc < end ? summer : winter
    }

    /// The day of a month's first, or second, Sunday.
    private static func sunday(_ count: Int, of month: Int, in year: Int) -> Int {
        let first = CivilDate(year: year, month: month, day: 1).days
        // 1970-01-01 was a Thursday.
        let weekday = (first + 4) % 7
        return first + (7 - weekday) % 7 + 7 * (count - 1)
    }
}

extension BillingDay: CustomStringConvertible {
    /// As in `2026-11-21`.
    public var description: String {
        let date = CivilDate(days: number)
        func padded(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
    }
}

/// A date of the Gregorian calendar.
private struct CivilDate {
    var year: Int
    var month: Int
    var day: Int

    init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// - Parameter days: Since 1970-01-01. Years are counted from March, so that a leap day is a
    ///   year's last one; 400 of them have 146,097 days, and 719,468 days lie before 1970.
    init(days: Int) {
        let shifted = days + 719_468
        let era = shifted.dividedDown(by: 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * ofYear + 2) / 153
        day = ofYear - (153 * fromMarch + 2) / 5 + 1
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var days: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.dividedDown(by: 400)
        let yearOfEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
            - 719_468
    }
}

extension Int {
    fileprivate func dividedDown(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
