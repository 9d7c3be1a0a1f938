import ArgumentParser
import Foundation
import Tidemark
import TidemarkModel

struct DayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "day",
        abstract: "Measure the processor time, wake-ups and bursts of a chat app's day.",
        discussion: """
            Runs a chat of 1,000 messages in a process, as it was and on Tidemark. Measures from \
            outside what a launch, a message and a minute on the screen cost, and adds them up to \
            a day: 20 launches, and four hours on the screen with a message each minute. A burst \
            of the network begins with a byte after 10 seconds of silence. Then an empty process \
            and five apps on Tidemark have one service more each: sign-in, feed, listener, \
            marks, pictures. Their differences are the costs of the services. Only Linux tells \
            these figures. A phone's battery also pays for its radio and its screen, which are \
            not measured.
            """)

    @Option(help: "Number of messages in the chat.") var messages: Int?
    @Option(help: "Number of minutes on the screen.") var minutes: Int?
    @Flag(help: "Play everything at a tenth of its size.") var small = false
    @Option(help: "Write the figures to this file, as JSON.") var json: String?
    @OptionGroup var bills: BillOptions

    func validate() throws {
        if let messages, !(1...100_000).contains(messages) {
            throw ValidationError("--messages must be between 1 and 100000.")
        }
        if let minutes, !(1...240).contains(minutes) {
            throw ValidationError("--minutes must be between 1 and 240.")
        }
    }

    func run() async throws {
        var demo = small ? DayDemo.small : DayDemo()
        demo.held = messages ?? demo.held
        demo.minutes = minutes ?? demo.minutes
        demo.bills = bills
        var figures = DemoFigures()
        figures.day = try await demo.play(.verbose)
        try DemoEnd(json: json, judge: nil).conclude(figures, .verbose)
    }
}

extension DayDemo {
    /// Plays the day, and prints its figures as a detail.
    func play(_ output: DemoOutput) async throws -> LaunchScenario<[String: Double]> {
        let (uses, bill) = try await play()
        output.detail(
            "\n" + Self.text(uses) + "\n\n" + Self.textOfServices(uses) + "\n" + scale)
        func figures(_ version: DayVersion) -> [String: Double] {
            let named = (uses[version] ?? DayUse()).figures.map { ($0.name + $0.unit, $0.value) }
            return Dictionary(uniqueKeysWithValues: named)
        }
        var after = figures(.after)
        let planned = bill.forecast.bill
        after["predicted reads"] = Double(planned.reads)
        after["reads"] = Double(bill.bill.documents)
        if bills.edition == .enterprise {
            let units = bill.bill.unitsRead
            after["predicted read units"] = Double(planned.units.read)
            after["read units"] = Double(units.read)
            after["predicted update units"] = Double(planned.units.realtimeUpdate)
            after["update units"] = Double(units.realtimeUpdate)
        }
        for (version, use) in Self.services(uses) {
            for figure in use.ofDay {
                after["\(version.service): \(figure.name)\(figure.unit)"] = figure.value
            }
        }
        return LaunchScenario(
            name: Self.name, network: "healthy",
            bar: "each message is shown; a launch receives less than the whole chat",
            before: figures(.before), after: after,
            why: complaints(uses) + [bill.complaint(in: bills.edition)].compactMap(\.self))
    }

    /// Returns the facts that are not as they must be: the app as it was receives the whole chat at
    /// each launch, and Tidemark receives less.
    func complaints(_ uses: [DayVersion: DayUse]) -> [String] {
        let (before, after) = (uses[.before] ?? DayUse(), uses[.after] ?? DayUse())
        var complaints: [String] = []
        // The name of a message alone has more bytes.
        if before.launch.bytes < 60 * Double(held) {
            complaints.append(
                "a launch of the app as it was received \(Int(before.launch.bytes)) bytes, and not "
                    + "the \(grouped(held)) messages")
        }
        if after.launch.bytes >= before.launch.bytes {
            complaints.append(
                "a launch on Tidemark received \(Int(after.launch.bytes)) bytes, and as it was "
                    + "\(Int(before.launch.bytes))")
        }
        return complaints
    }

    /// Returns the use of each service: the difference between the version with the service and the
    /// version before it.
    static func services(_ uses: [DayVersion: DayUse]) -> [(DayVersion, DayUse)] {
        var last = DayUse()
        return DayVersion.onTidemark.map { version in
            let use = uses[version] ?? DayUse()
            defer { last = use }
            return (version, use - last)
        }
    }

    /// Returns the figures of a day as a table, a line for each service.
    static func textOfServices(_ uses: [DayVersion: DayUse]) -> String {
        func line(_ cells: [String]) -> String {
            cells.enumerated().map { column, cell in
                cell.padding(toLength: column == 0 ? 34 : 14, withPad: " ", startingAt: 0)
            }.joined()
        }
        func cells(_ use: DayUse) -> [String] {
            use.ofDay.map { String(format: "%.1f", $0.value) + $0.unit }
        }
        let head = ["of a day on Tidemark", "processor", "wake-ups", "bursts", "bytes"]
        let last = uses[.pictures] ?? DayUse()
        let rows =
            [head] + services(uses).map { version, use in [version.service] + cells(use) }
            + [["all"] + cells(last)]
        return rows.map(line).joined(separator: "\n")
    }

    /// Returns the figures as a table.
    static func text(_ uses: [DayVersion: DayUse]) -> String {
        let (before, after) = (uses[.before] ?? DayUse(), uses[.after] ?? DayUse())
        func line(_ name: String, _ before: String, _ after: String) -> String {
            name.padding(toLength: 34, withPad: " ", startingAt: 0)
                + before.padding(toLength: 14, withPad: " ", startingAt: 0) + after
        }
        let rows = zip(before.figures, after.figures).map { before, after in
            line(
                before.name, String(format: "%.1f", before.value) + before.unit,
                String(format: "%.1f", after.value) + after.unit)
        }
        return ([line("", "before", "after")] + rows).joined(separator: "\n")
    }
}

extension SummaryRow {
    /// Returns the row of a day with an app.
    static func day(_ day: LaunchScenario<[String: Double]>) -> SummaryRow {
        func text(_ figures: [String: Double]) -> String {
            func number(_ name: String) -> String {
                figures[name].map { $0 < 100 ? String(format: "%.1f", $0) : grouped(Int($0)) }
                    ?? "-"
            }
            return [
                "\(number("processor time of a day s")) s",
                "\(number("wake-ups of a day")) wake-ups", "\(number("bursts of a day")) bursts",
                "\(number("bytes of a day MB")) MB",
            ].joined(separator: ", ")
        }
        return SummaryRow(
            name: day.name, network: day.network, before: text(day.before),
            after: text(day.after), holds: day.holds)
    }
}
