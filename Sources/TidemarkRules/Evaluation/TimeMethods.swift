import Foundation
import TidemarkModel

/// Methods of timestamps, durations and geo points.
enum TimeMethods {
    static func answer(_ call: MethodCall, _ time: Timestamp) throws(RulesFailure) -> RulesValue {
        let second = Int(time.seconds - CalendarDay(of: time).start)
        let day = CalendarDay(of: time)
        let answer: Int
        switch call.method {
        case .year: answer = day.year
        case .month: answer = day.month
        case .day: answer = day.day
        case .hours: answer = second / 3_600
        case .minutes: answer = second / 60 % 60
        case .seconds: answer = second % 60
        case .nanos: answer = Int(time.nanoseconds)
        case .dayOfWeek: answer = day.ofWeek
        case .dayOfYear: answer = day.ofYear
        case .toMillis: answer = Int(time.milliseconds)
        case .date:
            try call.expectNone()
            return .timestamp(Timestamp(seconds: day.start, nanoseconds: 0))
        case .time:
            try call.expectNone()
            let total = Int128(second) * 1_000_000_000 + Int128(time.nanoseconds)
            return RulesDuration(total: total).map { .duration($0) } ?? .null
        default: throw call.notFound
        }
        try call.expectNone()
        return .integer(Int64(answer))
    }

    static func answer(
        _ call: MethodCall, _ length: RulesDuration
    ) throws(RulesFailure) -> RulesValue {
        switch call.method {
        case .seconds:
            try call.expectNone()
            return .integer(length.seconds)
        case .nanos:
            try call.expectNone()
            return .integer(Int64(length.nanoseconds))
        default: throw call.notFound
        }
    }

    static func answer(_ call: MethodCall, _ point: GeoPoint) throws(RulesFailure) -> RulesValue {
        switch call.method {
        case .latitude:
            try call.expectNone()
            return .float(point.latitude)
        case .longitude:
            try call.expectNone()
            return .float(point.longitude)
        case .distance:
            guard case .latlng(let other)? = call.arguments.first, call.arguments.count == 1 else {
                throw call.wrong(expected: "latlng")
            }
            return .float(distance(from: point, to: other))
        default: throw call.notFound
        }
    }

    /// Returns the distance in metres along the surface of a sphere with the Earth's mean radius.
    private static func distance(from a: GeoPoint, to b: GeoPoint) -> Double {
        let radians = Double.pi / 180
        let (x, y) = (a.latitude * radians, b.latitude * radians)
        let half = (
            latitude: sin((y - x) / 2), longitude: sin((b.longitude - a.longitude) * radians / 2)
        )
        let square =
            half.latitude * half.latitude + cos(x) * cos(y) * half.longitude * half.longitude
        return 2 * 6_371_010 * asin(min(1, square.squareRoot()))
    }
}

/// A day of the calendar, in UTC, in the years 1 to 9999.
struct CalendarDay {
    let year: Int
    let month: Int
    let day: Int
    /// The number of days since 1970-01-01.
    private let number: Int

    init(of time: Timestamp) {
        let seconds = Int(time.seconds)
        self.init(number: (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400)
    }

    /// Returns nil for a date that does not exist.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else {
            return nil
        }
        self.init(number: Self.number(year: Int(year), month: Int(month), day: Int(day)))
        guard Int64(self.day) == day, Int64(self.month) == month else { return nil }
    }

    /// Counts in eras of 400 years that begin in March, so a leap day is the last day of its year.
    private init(number: Int) {
        self.number = number
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        day = ofYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    private static func number(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - 719_468
    }

    /// The first second of the day, since 1970.
    var start: Int64 { Int64(number) * 86_400 }
    /// The day of the week, 1 for Monday. The first day of 1970 was a Thursday.
    var ofWeek: Int { ((number + 3) % 7 + 7) % 7 + 1 }
    var ofYear: Int { number - Self.number(year: year, month: 1, day: 1) + 1 }
}
