extension Timestamp {
    /// As in `2017-04-22T00:26:51.000001Z`: RFC 3339 in UTC, with 0, 3, 6 or 9 digits of a second, as
    /// protobuf's JSON has it.
    package var rfc3339: String {
        let day = seconds.flooredQuotient(by: 86_400)
        let time = seconds - day * 86_400
        let date = CivilDate(daysSince1970: day)
        var text = Self.digits(date.year, 4)
        text += "-" + Self.digits(date.month, 2) + "-" + Self.digits(date.day, 2)
        text += "T" + Self.digits(time / 3_600, 2)
        text += ":" + Self.digits(time / 60 % 60, 2) + ":" + Self.digits(time % 60, 2)
        if nanoseconds != 0 {
            let fraction = Int64(nanoseconds)
            if fraction % 1_000_000 == 0 {
                text += "." + Self.digits(fraction / 1_000_000, 3)
            } else if fraction % 1_000 == 0 {
                text += "." + Self.digits(fraction / 1_000, 6)
            } else {
                text += "." + Self.digits(fraction, 9)
            }
        }
        return text + "Z"
    }

    /// Reads RFC 3339: with up to nine digits of a second, and `Z` or an offset at its end.
    ///
    /// - Parameter text: Nil comes back for any other form, a day that no calendar has, and a time
    ///   outside the years 1 to 9999.
    package init?(rfc3339 text: String) {
        var scan = DigitScan(text)
        guard let year = scan.number(4), scan.take("-"), let month = scan.number(2),
            scan.take("-"), let day = scan.number(2), scan.take("T") || scan.take("t"),
            let hour = scan.number(2), scan.take(":"), let minute = scan.number(2),
            scan.take(":"), let second = scan.number(2),
            let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60,
            second < 60
        else { return nil }
        var nanoseconds: Int64 = 0
        if scan.take(".") {
            guard let fraction = scan.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = scan.offset(), scan.isAtEnd else { return nil }
        let seconds =
            date.daysSince1970 * 86_400 + hour * 3_600 + minute * 60 + second - offset
        guard Self.isValid(seconds: seconds, nanoseconds: Int32(nanoseconds)) else { return nil }
        self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    private static func digits(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: Swift.max(0, width - text.utf8.count)) + text
    }
}

/// A day of the Gregorian calendar, also before there was one.
private struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    /// Nil for a day that the month does not have.
    init?(year: Int64, month: Int64, day: Int64) {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), day >= 1, day <= lengths[Int(month) - 1] else {
            return nil
        }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The year is counted from March, so that the leap day is its last.
    init(daysSince1970: Int64) {
        let days = daysSince1970 + 719_468
        let era = days.flooredQuotient(by: 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(by: 400)
        let yearOfEra = shifted - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}

extension Int64 {
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }
}

/// Reads digits and marks from the front of a text.
private struct DigitScan {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: Character) -> Bool {
        guard let byte = mark.asciiValue, rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// A number of exactly so many digits.
    mutating func number(_ count: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// 1 to 9 digits of a second, as nanoseconds.
    mutating func fraction() -> Int64? {
        var number: Int64 = 0
        var count = 0
        while let digit = digit() {
            count += 1
            if count > 9 { return nil }
            number = number * 10 + digit
        }
        if count == 0 { return nil }
        return (count..<9).reduce(number) { value, _ in value * 10 }
    }

    /// `Z`, or `+hh:mm`, in seconds east.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard take("+") || take("-"), let hours = number(2), take(":"),
            let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        return isWest ? -seconds : seconds
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
            return nil
        }
        rest = rest.dropFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }
}
