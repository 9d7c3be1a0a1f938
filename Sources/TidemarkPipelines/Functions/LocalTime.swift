import TidemarkModel

/// A time in a zone: the date and the time of day that a clock there shows.
struct LocalTime {
    /// The days since 1970-01-01.
    var day: Int
    /// The nanoseconds since midnight.
    var nanoseconds: Int128

    private static let ofDay: Int128 = 86_400_000_000_000

    init(day: Int, nanoseconds: Int128 = 0) { (self.day, self.nanoseconds) = (day, nanoseconds) }

    init(_ time: Timestamp, in zone: Zone) {
        let local = time.total + Int128(zone.offset(at: time.seconds)) * 1_000_000_000
        day = Int(local.dividedDown(by: Self.ofDay))
        nanoseconds = local - Int128(day) * Self.ofDay
    }

    /// Returns the time at which clocks of the zone show this time. Of a time that clocks skip, the
    /// time as far behind the skip.
    func timestamp(in zone: Zone, function: String) throws(Fault) -> Timestamp {
        let local = Int128(day) * Self.ofDay + nanoseconds
        let seconds = Int64(clamping: local.dividedDown(by: 1_000_000_000))
        // The offset at a time that differs by the offset itself is right except near a change.
        var offset = zone.offset(at: seconds)
        offset = zone.offset(at: seconds - offset)
        return try Timestamp(total: local - Int128(offset) * 1_000_000_000, in: function)
    }

    var date: CivilDate { CivilDate(days: day) }

    /// The weekday: 0 for Sunday.
    var weekday: Int { let rest = (day + 4) % 7; return rest < 0 ? rest + 7 : rest }

    /// The first day of the week that starts on a weekday.
    func startOfWeek(on first: Int) -> Int { day - (weekday - first + 7) % 7 }

    /// The year of the ISO week, which is the year of its Thursday, and its first day.
    var isoYear: (year: Int, start: Int) {
        let year = CivilDate(days: startOfWeek(on: 1) + 3).year
        let january4 = LocalTime(day: CivilDate(year: year, month: 1, day: 4).days)
        return (year, january4.startOfWeek(on: 1))
    }

    /// The day of the year, from 1.
    var dayOfYear: Int { day - CivilDate(year: date.year, month: 1, day: 1).days + 1 }

    /// Returns the number of the week in the year: week 1 begins with the first weekday of the
    /// year; the days before it are week 0.
    func week(from first: Int) -> Int {
        let newYear = LocalTime(day: day - dayOfYear + 1)
        let before = (first - newYear.weekday + 7) % 7
        return dayOfYear <= before ? 0 : (dayOfYear - 1 - before) / 7 + 1
    }
}

/// A time zone: UTC, a fixed offset such as `+05:30`, or a name such as `Europe/Berlin`.
struct Zone {
    private let name: String?
    private let fixed: Int64

    init(_ text: String, in function: String) throws(Fault) {
        if let fixed = Self.fixedOffset(text) {
            (name, self.fixed) = (nil, fixed)
        } else if RealMath.offset(ofZone: text, at: 0) != nil {
            (name, fixed) = (text, 0)
        } else {
            throw Fault("\(function): unknown time zone \"\(text)\".")
        }
    }

    static let utc = Zone()

    private init() { (name, fixed) = (nil, 0) }

    func offset(at seconds: Int64) -> Int64 {
        name.flatMap { RealMath.offset(ofZone: $0, at: seconds) } ?? fixed
    }

    /// Parses `+05:30`, `-0800` or `+5`.
    private static func fixedOffset(_ text: String) -> Int64? {
        if text == "UTC" || text == "GMT" || text == "Z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard (1...4).contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = Int64(digits)
        else { return nil }
        let (hours, minutes) = digits.count <= 2 ? (number, 0) : (number / 100, number % 100)
        guard hours < 24, minutes < 60 else { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}
