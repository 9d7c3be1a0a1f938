import ArgumentParser
import Foundation
import TidemarkHealth

struct HealthHoursCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hours",
        abstract: "Print the stored hours.",
        discussion: """
            Prints comma-separated values, with the column names in the first line. An hour is \
            an hour of the local clock, and its start has the UTC offset of that place. For \
            amounts, the sum is their total. For readings, the count is their number and the sum \
            adds them all.
            """)

    @OptionGroup var store: HealthStoreOptions

    @Option(help: "The first local day, as in 2026-05-10. (default: the last day with data)")
    var from: String?

    @Option(help: "The last local day. (default: the first)")
    var to: String?

    @Option(help: "The kind of measurement. Repeatable. (default: all)")
    var kind: [String] = []

    func run() throws {
        let kinds = try self.kinds()
        let (from, to) = (try day(from), try day(to))
        let store = try store.existing()
        try store.read { snapshot in
            guard let known = try snapshot.days() else {
                print("No data has been imported yet.")
                return
            }
            let first = from ?? to ?? known.upperBound
            let last = to ?? first
            guard first <= last else { throw ValidationError("\(first) is after \(last).") }
            print(HourLine.head)
            for kind in kinds {
                // Reading a year at a time limits the memory.
                var start = max(first, known.lowerBound)
                let end = min(last, known.upperBound)
                while start <= end {
                    let stop = min(end, HealthDay(number: start.number + 365))
                    for hour in try snapshot.entries(kind, days: start...stop) {
                        print(HourLine.text(hour))
                    }
                    start = HealthDay(number: stop.number + 1)
                }
            }
        }
    }

    private func kinds() throws -> [HealthKind] {
        if kind.isEmpty { return HealthKind.allCases }
        return try kind.map { name in
            guard let kind = HealthKind(name: name) else {
                let names = HealthKind.allCases.map(\.name).joined(separator: ", ")
                throw ValidationError("Unknown kind \(name). Kinds: \(names).")
            }
            return kind
        }
    }

    private func day(_ text: String?) throws -> HealthDay? {
        guard let text else { return nil }
        guard let day = HealthDay(text) else {
            throw ValidationError("\(text) is not a day; write it as in 2026-05-10.")
        }
        return day
    }
}

enum HourLine {
    static let head = "kind,day,hour,start,sum,count,smallest,largest,last,zone"

    static func text(_ hour: HourEntry) -> String {
        let numbers = [hour.minimum, hour.maximum, hour.last].map { $0.map { "\($0)" } ?? "" }
        return
            "\(hour.kind.name),\(hour.day),\(hour.hour),\(start(hour)),\(hour.sum),\(hour.count),"
            + numbers.joined(separator: ",") + ",\(hour.zone ?? "")"
    }

    /// Returns the start of the hour, such as `2026-05-10T08:00:00+02:00`.
    private static func start(_ hour: HourEntry) -> String {
        let offset = hour.offset
        let minutes = (hour.start + Int64(offset) * 60) / 60 - hour.day.number * 1_440
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let zone =
            (offset < 0 ? "-" : "+") + two(abs(offset) / 60) + ":" + two(abs(offset) % 60)
        return "\(hour.day)T\(two(Int(minutes) / 60)):\(two(Int(minutes) % 60)):00\(zone)"
    }
}
