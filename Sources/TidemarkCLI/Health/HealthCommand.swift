import ArgumentParser
import Foundation
import TidemarkHealth

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health", abstract: "Show imported health data.",
        subcommands: [
            HealthSummaryCommand.self, HealthTotalsCommand.self, HealthHoursCommand.self,
        ])
}

struct HealthSummaryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "summary",
        abstract: "Print the eight values of a summary screen, with charts of a day and a week.")

    @OptionGroup var store: HealthStoreOptions

    @Option(help: "The local day to show, as in 2026-05-10. (default: the last day with data)")
    var day: String?

    @Option(help: "The kind of data that the charts show.")
    var kind = "steps"

    @Option(help: "Write the charts as SVG, to NAME-day.svg and NAME-week.svg.")
    var svg: String?

    func run() throws {
        guard let kind = HealthKind(name: kind) else {
            let names = HealthKind.allCases.map(\.name).joined(separator: ", ")
            throw ValidationError("Unknown kind \(kind). Kinds: \(names).")
        }
        let store = try store.existing()
        try store.read { snapshot in
            guard let moment = try moment(snapshot) else {
                print("No data has been imported yet.")
                return
            }
            var summary = HealthSummary()
            try snapshot.read(Set(HealthSummary.Item.allCases), of: &summary, at: moment)
            print(SummaryText.lines(summary, moment).joined(separator: "\n"))
            let charts = [
                ("day", try HealthChart.day(kind, moment.day, in: snapshot)),
                ("week", try HealthChart.week(kind, to: moment.day, in: snapshot)),
            ]
            for (name, chart) in charts {
                print("\n" + chart.terminal())
                guard let svg else { continue }
                let path = "\(svg)-\(name).svg"
                try chart.svg.write(toFile: path, atomically: true, encoding: .utf8)
                print("written to \(path)")
            }
        }
    }

    /// Returns the end of the chosen day at the place of its last entry; or else the end of the
    /// imported data.
    private func moment(_ snapshot: HealthSnapshot) throws -> HealthMoment? {
        let kinds: [HealthKind] = [.steps, .heartRate, .sleep, .weight, .mood]
        if let day {
            guard let day = HealthDay(day) else {
                throw ValidationError("\(day) is not a day; write it as in 2026-05-10.")
            }
            let last = try kinds.compactMap { try snapshot.entries($0, days: day...day).last }
                .max { $0.start < $1.start }
            let offset = last?.offset ?? 0
            return HealthMoment(
                seconds: (day.number + 1) * 86_400 - 1 - Int64(offset) * 60, offset: offset)
        }
        return try kinds.compactMap { try snapshot.latest($0, limit: 1).first }
            .max { $0.start < $1.start }
            .map { HealthMoment(seconds: max($0.start, $0.lastTime), offset: $0.offset) }
    }
}

enum SummaryText {
    static func lines(_ summary: HealthSummary, _ moment: HealthMoment) -> [String] {
        var lines = ["\(moment.day)"]
        func add(_ name: String, _ value: String?) {
            let label = name + String(repeating: " ", count: max(0, 20 - name.count))
            lines.append("\(label) \(value ?? "nothing yet")")
        }
        add("Steps", summary.stepsToday.map { "\(Int($0.rounded()))" })
        add("Weight", summary.weight.map { "\(text($0.value, 1)) kg" })
        add("Height", summary.height.map { "\(text($0.value, 2)) m" })
        add(
            "Last weights",
            summary.lastWeights.isEmpty
                ? nil
                : summary.lastWeights.map { text($0.value, 1) }.joined(separator: ", ") + " kg")
        add("Mood", summary.mood.map { "\(text($0.value, 2)) (from -1 to 1)" })
        add("Heart rate", summary.heartRate.map { "\(text($0.value, 0)) at \(time($0))" })
        add("Heart rate, 8 hours", hours(summary.heartRateHours))
        add("Steps, 8 hours", hours(summary.stepsHours))
        add(
            "Sleep",
            summary.sleep.map { sleep in
                let minutes = Int((sleep.asleep / 60).rounded())
                return "\(minutes / 60) h \(minutes % 60) min"
            })
        return lines
    }

    private static func text(_ value: Double, _ digits: Int) -> String {
        value.formatted(
            .number.precision(.fractionLength(digits)).locale(Locale(identifier: "en_US_POSIX")))
    }

    private static func time(_ reading: HealthSummary.Reading) -> String {
        let minutes = (reading.time / 60 + Int64(reading.offset)) % 1_440
        let minute = minutes % 60
        return "\(minutes / 60):\(minute < 10 ? "0" : "")\(minute)"
    }

    private static func hours(_ entries: [HourEntry]) -> String? {
        if entries.isEmpty { return nil }
        return entries.map { "\($0.hour)h \(Int($0.value.rounded()))" }.joined(separator: " · ")
    }
}

struct HealthTotalsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "totals",
        abstract: "Print the totals of each day: kind, day, sum, readings, smallest, largest.",
        discussion: """
            Prints comma-separated values, in the format of `tidemark-lab generate health --truth`.
            """)

    @OptionGroup var store: HealthStoreOptions

    func run() throws {
        let store = try store.existing()
        try store.read { snapshot in
            guard let days = try snapshot.days() else { return }
            for kind in HealthKind.allCases {
                for total in try snapshot.totals(kind, days: days) {
                    print(
                        TotalLine.text(
                            kind, total.day, sum: total.sum, count: total.count,
                            minimum: total.minimum, maximum: total.maximum))
                }
            }
        }
    }
}
