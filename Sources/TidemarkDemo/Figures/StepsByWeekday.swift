import Tidemark
import TidemarkModel

/// The steps of each day of the week, over all days of a person, in the form in which
/// `HealthHistory` sends a day.
enum StepsByWeekday {
    /// - Parameters:
    ///   - count: The number of days at the last use.
    ///   - changed: The number of the newest days that another device changes in the meantime.
    ///   - today: The number of the day after them, counted from 1970.
    static func row(days count: Int, changed: Int, today: Int64) -> FiguresRow {
        let first = today - Int64(count)
        return FiguresRow(
            name: "steps by weekday over \(grouped(count)) days, live", slug: "steps-by-weekday",
            list: "days", time: "day", figures: figures,
            held: (first..<today).map { day($0, hours: 14) },
            changes: (today - Int64(changed)..<today).map { day($0, hours: 16) },
            last: day(today, hours: 3))
    }

    private static func day(_ number: Int64, hours: Int) -> FiguresRow.Write {
        let start = number * 86_400
        let starts = (0..<hours).map { start + 3_600 * Int64(7 + $0) }
        let steps = starts.map {
            TidemarkModel.Value.integer(($0 / 3_600 * 7_919 % 1_500) * 1_000_000)
        }
        return FiguresRow.Write(
            id: "day-\(number)",
            fields: [
                "day": .timestamp(Timestamp(seconds: start, nanoseconds: 0)),
                "kinds": .map([
                    "steps": .map([
                        "start": .array(starts.map { .integer($0) }),
                        "offset": .array(starts.map { _ in .integer(120) }), "sum": .array(steps),
                        "lastTime": .array(starts.map { .integer($0 + 3_000) }),
                    ])
                ]),
            ])
    }

    private static let figures = FiguresRow.Figures { days in
        days.select([
            Field("day").timestampExtract(part: .dayOfWeek).as("weekday"),
            FunctionExpression(functionName: "sum", args: [Field("kinds.steps.sum")]).as("steps"),
        ])
        .aggregate(
            [CountAll().as("days"), Field("steps").sum().as("steps")], groups: [Field("weekday")])
    } shown: { row in
        guard let weekday = row.get("weekday") as? Int64, let days = row.get("days") as? Int64,
            let steps = row.get("steps") as? Int64
        else { return nil }
        return "weekday \(weekday): \(steps / 1_000_000) steps on \(days) days"
    } counted: { days in
        var sums: [Int64: (days: Int64, steps: Int64)] = [:]
        for day in days {
            guard case .timestamp(let time)? = day["day"],
                case .map(let kinds)? = day["kinds"], case .map(let hours)? = kinds["steps"],
                case .array(let steps)? = hours["sum"]
            else { continue }
            // The first day of 1970 was a Thursday, which is the fifth day.
            let weekday = (time.seconds / 86_400 + 4) % 7 + 1
            for case .integer(let number) in steps {
                sums[weekday, default: (0, 0)].steps += number
            }
            sums[weekday, default: (0, 0)].days += 1
        }
        return Set(
            sums.map { weekday, sum in
                "weekday \(weekday): \(sum.steps / 1_000_000) steps on \(sum.days) days"
            })
    }
}
