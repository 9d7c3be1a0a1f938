import TidemarkModel

/// A part of a time: a period to cut a time to, or a number to extract.
enum TimePart: Equatable {
    case fixed(TimeUnit)
    /// A week that starts on a weekday; 0 is Sunday.
    case week(start: Int)
    case isoWeek, month, quarter, year, isoYear, dayOfWeek, dayOfYear

    private static let weekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]

    init(_ value: Value, in function: String) throws(Fault) {
        let name = try value.string(in: function)
        switch name.lowercased() {
        case "week": self = .week(start: 0)
        case "isoweek": self = .isoWeek
        case "month": self = .month
        case "quarter": self = .quarter
        case "year": self = .year
        case "isoyear": self = .isoYear
        case "dayofweek": self = .dayOfWeek
        case "dayofyear": self = .dayOfYear
        case let name:
            if let unit = TimeUnit(rawValue: name) {
                self = .fixed(unit)
            } else if let day = Self.weekdays.firstIndex(where: { "week(\($0))" == name }) {
                self = .week(start: day)
            } else {
                throw Fault("\(function): unknown part \"\(name)\".")
            }
        }
    }

    /// Returns the first instant of the period that holds the time; nil if it is no period.
    func start(of time: LocalTime) -> LocalTime? {
        let date = time.date
        switch self {
        case .fixed(.day): return LocalTime(day: time.day)
        case .fixed(let unit):
            let rest = time.nanoseconds % unit.nanoseconds
            return LocalTime(day: time.day, nanoseconds: time.nanoseconds - rest)
        case .week(let start): return LocalTime(day: time.startOfWeek(on: start))
        case .isoWeek: return LocalTime(day: time.startOfWeek(on: 1))
        case .month: return Self.first(of: date.month, date.year)
        case .quarter: return Self.first(of: (date.month - 1) / 3 * 3 + 1, date.year)
        case .year: return Self.first(of: 1, date.year)
        case .isoYear: return LocalTime(day: time.isoYear.start)
        case .dayOfWeek, .dayOfYear: return nil
        }
    }

    private static func first(of month: Int, _ year: Int) -> LocalTime {
        LocalTime(day: CivilDate(year: year, month: month, day: 1).days)
    }

    /// Returns the number that a calendar or clock shows for the part.
    func number(in time: LocalTime) -> Int {
        let seconds = Int(time.nanoseconds / 1_000_000_000)
        let date = time.date
        return switch self {
        case .fixed(.microsecond): Int(time.nanoseconds % 1_000_000_000) / 1_000
        case .fixed(.millisecond): Int(time.nanoseconds % 1_000_000_000) / 1_000_000
        case .fixed(.second): seconds % 60
        case .fixed(.minute): seconds / 60 % 60
        case .fixed(.hour): seconds / 3_600
        case .fixed(.day): date.day
        case .week(let start): time.week(from: start)
        case .isoWeek: (time.startOfWeek(on: 1) - time.isoYear.start) / 7 + 1
        case .month: date.month
        case .quarter: (date.month - 1) / 3 + 1
        case .year: date.year
        case .isoYear: time.isoYear.year
        case .dayOfWeek: time.weekday + 1
        case .dayOfYear: time.dayOfYear
        }
    }
}

/// Functions of the parts of a time, in a time zone.
enum TimeParts {
    static let functions: [Function] = [
        .ofValues("timestamp_trunc", takes: 2...3) { values, _ throws(Fault) in
            let name = "timestamp_trunc"
            let zone = try zone(values, in: name)
            let time = try values[0].timestamp(in: name)
            let part = try TimePart(values[1], in: name)
            // A part of a second is the same in every zone.
            if case .fixed(let unit) = part, unit.nanoseconds <= 1_000_000_000 {
                let total = time.total.dividedDown(by: unit.nanoseconds) * unit.nanoseconds
                return .value(.timestamp(try Timestamp(total: total, in: name)))
            }
            guard let start = part.start(of: LocalTime(time, in: zone)) else {
                throw Fault("\(name): the part is no period.")
            }
            return .value(.timestamp(try start.timestamp(in: zone, function: name)))
        },
        .ofValues("timestamp_extract", takes: 2...3) { values, _ throws(Fault) in
            let name = "timestamp_extract"
            let zone = try zone(values, in: name)
            let time = LocalTime(try values[0].timestamp(in: name), in: zone)
            return .integer(try TimePart(values[1], in: name).number(in: time))
        },
    ]

    private static func zone(_ values: [Value], in name: String) throws(Fault) -> Zone {
        values.count == 3 ? try Zone(try values[2].string(in: name), in: name) : .utc
    }
}
