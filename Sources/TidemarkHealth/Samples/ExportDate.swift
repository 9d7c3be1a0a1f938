/// A date of an export, such as `2024-02-25 08:10:00 +0700`, or `20240225081000+0700` from iOS 8.
struct ExportDate: Hashable {
    /// The seconds since 1970 in UTC.
    var seconds: Int64
    /// The offset from UTC as written, in minutes to the east.
    var offset: Int16

    static let length = 25
    private static let oldLength = 19

    @inline(__always)
    static func parse(_ bytes: UnsafeRawBufferPointer) -> ExportDate? {
        if bytes.count == length { return parseSeparated(bytes) }
        return bytes.count == oldLength ? parseOld(bytes) : nil
    }

    /// Parses a date without separators, as iOS 8 wrote them. The date is parsed again with
    /// separators added.
    private static func parseOld(_ bytes: UnsafeRawBufferPointer) -> ExportDate? {
        var whole = [UInt8]("0000-00-00 00:00:00 ".utf8)
        let places = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]
        for (from, to) in places.enumerated() { whole[to] = bytes[from] }
        whole += bytes[places.count...]
        return whole.withUnsafeBytes { parseSeparated($0) }
    }

    @inline(__always)
    private static func parseSeparated(_ bytes: UnsafeRawBufferPointer) -> ExportDate? {
        var isGood = true
        @inline(__always) func two(_ place: Int) -> Int64 {
            let a = bytes[place] &- 48
            let b = bytes[place + 1] &- 48
            if a > 9 || b > 9 { isGood = false }
            return Int64(a) &* 10 &+ Int64(b)
        }
        let year = two(0) * 100 + two(2)
        let month = two(5)
        let day = two(8)
        let hour = two(11)
        let minute = two(14)
        let second = two(17)
        let zoneHour = two(21)
        let zoneMinute = two(23)
        let sign = bytes[20]
        guard isGood, bytes[4] == 45, bytes[7] == 45, bytes[10] == 32, bytes[13] == 58,
            bytes[16] == 58, bytes[19] == 32, sign == 43 || sign == 45,
            month >= 1, month <= 12, day >= 1, day <= CivilDay.days(in: month, of: year),
            hour < 24, minute < 60, second <= 60, zoneHour <= 18, zoneMinute < 60
        else { return nil }
        let east = (zoneHour * 60 + zoneMinute) * (sign == 43 ? 1 : -1)
        let days = CivilDay.number(year: year, month: month, day: day)
        return ExportDate(
            seconds: days * 86_400 + hour * 3_600 + minute * 60 + second - east * 60,
            offset: Int16(east))
    }
}

/// Numbers the days of the Gregorian calendar; 0 is 1 January 1970.
enum CivilDay {
    /// The algorithm is Howard Hinnant's `days_from_civil`, in which years begin in March.
    @inline(__always)
    static func number(year: Int64, month: Int64, day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func parts(_ number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let z = number + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    @inline(__always)
    static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

/// A local day, from one midnight to the next.
public struct HealthDay: Hashable, Comparable, Sendable {
    /// The number of days since 1 January 1970.
    public let number: Int64

    public init(number: Int64) { self.number = number }

    /// The local day of a moment, at an offset from UTC in minutes to the east.
    public init(seconds: Int64, offset: Int) {
        number = (seconds + Int64(offset) * 60).flooredDivision(by: 86_400)
    }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// Parses a day such as `2024-02-25`; nil for other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 4, parts[1].count == 2, parts[2].count == 2,
            let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2]),
            year > 0, (1...12).contains(month),
            day >= 1, day <= CivilDay.days(in: month, of: year)
        else { return nil }
        number = CivilDay.number(year: year, month: month, day: day)
    }
}

extension HealthDay: CustomStringConvertible {
    public var description: String {
        let (year, month, day) = CivilDay.parts(number)
        func padded(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}

extension Int64 {
    /// Divides and rounds down, also below zero.
    @inline(__always)
    func flooredDivision(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
