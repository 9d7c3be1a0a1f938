import Foundation

/// What all journeys came to: one line a row, on one screen.
struct DemoSummary {
    static let mostLines = 60
    /// The rest are in the file with the details.
    static let mostComplaints = 5

    private let figures: DemoFigures
    private let seconds: Double
    private let details: String?

    /// - Parameter details: The file that holds all tables; nil for none.
    init(_ figures: DemoFigures, seconds: Double, details: String?) {
        self.figures = figures
        self.seconds = seconds
        self.details = details
    }

    var text: String { lines.joined(separator: "\n") }

    var lines: [String] {
        let end = closing
        let room = Self.mostLines - end.count
        let rows = table
        if rows.count <= room { return rows + end }
        let left = rows.count - room + 1
        return rows.prefix(room - 1) + ["  … and \(left) more rows"] + end
    }

    private var table: [String] {
        let parts: [(String, [SummaryRow])] = [
            ("a chat app", SummaryRow.rows(of: figures.chats)),
            ("a messaging app", SummaryRow.rows(of: figures.messages)),
            ("a launch", figures.launches?.summary ?? []),
            ("a sign-up, killed (-9) at every step", figures.signUps.map(SummaryRow.init)),
            ("a fitness app", SummaryRow.rows(of: figures.health)),
            ("pictures", figures.pictures.map(SummaryRow.init)),
        ]
        let head = SummaryRow(name: "", network: "network", before: "before", after: "on Tidemark")
        let all = [head] + parts.flatMap(\.1)
        let widths = [
            all.map(\.name.count).max() ?? 0, all.map(\.network.count).max() ?? 0,
            all.map(\.before.count).max() ?? 0,
        ]
        return [head.line(widths)]
            + parts.filter { !$0.1.isEmpty }.flatMap { name, rows in
                [name] + rows.map { $0.line(widths) }
            }
    }

    private var closing: [String] {
        let complaints = figures.complaints
        var lines = Headline(figures.chats)?.lines ?? []
        lines += JourneyLine.lines(of: figures)
        lines += complaints.prefix(Self.mostComplaints).map { Self.shortened($0) }
        if complaints.count > Self.mostComplaints {
            lines.append("… and \(complaints.count - Self.mostComplaints) more that do not hold")
        }
        if let remark = figures.times?.remark { lines.append(remark) }
        lines.append(
            complaints.isEmpty
                ? String(format: "Everything holds. %.0f s of play.", seconds)
                : String(format: "%d do not hold. %.0f s of play.", complaints.count, seconds))
        if let details { lines.append("All tables: \(details)") }
        return lines
    }

    private static func shortened(_ text: String) -> String {
        text.count <= 200 ? text : text.prefix(199) + "…"
    }
}

/// One row of a journey, on the network that tells most.
struct SummaryRow: Hashable {
    private static let longestName = 58

    let name: String
    let network: String
    let before: String
    let after: String
    var holds = true

    func line(_ widths: [Int]) -> String {
        let cells = zip([name, network, before], widths).map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let verdict = holds ? "" : "  DOES NOT HOLD"
        return "  " + (cells + [after + verdict]).joined(separator: "  ")
    }

    static func shortened(_ name: String) -> String {
        name.count <= longestName ? name : name.prefix(longestName - 1) + "…"
    }
}

extension SummaryRow {
    /// One a scenario: on the first network that it does not hold on, else on the one that took the app
    /// as it was longest.
    static func rows(of results: [ScenarioResult]) -> [SummaryRow] {
        var names: [String] = []
        for result in results where !names.contains(result.name) { names.append(result.name) }
        return names.compactMap { name in
            let own = results.filter { $0.name == name }
            let telling =
                own.first { !$0.holds }
                ?? own.max { ($0.before.upToDate ?? .zero) < ($1.before.upToDate ?? .zero) }
            return telling.map(SummaryRow.init)
        }
    }

    init(_ result: ScenarioResult) {
        self.init(
            name: Self.shortened(result.name), network: result.network.rawValue,
            before: Self.text(result.before), after: Self.text(result.after), holds: result.holds)
    }

    private static func text(_ measured: Measured) -> String {
        var parts = ["\(grouped(measured.reads)) reads"]
        let wrong = measured.difference.missed.count + measured.difference.doubled.count
        if wrong > 0 { parts.append("\(grouped(wrong)) wrong") }
        if let time = measured.upToDate { parts.append(Self.time(time.milliseconds)) }
        return parts.joined(separator: ", ")
    }

    static func time(_ milliseconds: Double?) -> String {
        guard let milliseconds else { return "never" }
        if milliseconds < 1_000 {
            return String(format: milliseconds < 10 ? "%.1f ms" : "%.0f ms", milliseconds)
        }
        return String(format: "%.1f s", milliseconds / 1_000)
    }

    init(_ scenario: LaunchScenario<SignUpFigures>) {
        func text(_ figures: SignUpFigures) -> String {
            let orphans = figures.accountsWithoutProfile + figures.profilesWithoutAccount
            return "\(orphans) orphans, \(figures.deadEnds) dead ends of \(figures.devices)"
        }
        self.init(
            name: "devices", network: scenario.network, before: text(scenario.before),
            after: text(scenario.after), holds: scenario.holds)
    }

    init(_ scenario: LaunchScenario<[String: Double]>) {
        func text(_ figures: [String: Double]) -> String {
            func number(_ key: String) -> String { figures[key].map(Bar.number) ?? "-" }
            return "\(number("MiB")) MiB, \(number("downloads")) downloads"
        }
        self.init(
            name: Self.shortened(scenario.name), network: scenario.network,
            before: text(scenario.before), after: text(scenario.after), holds: scenario.holds)
    }
}

extension LaunchDemoFigures {
    /// One a network, one for the rank and one for the diagnosis's cost.
    var summary: [SummaryRow] {
        let shown = launches.map { launch in
            SummaryRow(
                name: "first content", network: launch.network,
                before: SummaryRow.time(launch.before.firstContentMs) + launch.before.rest,
                after: SummaryRow.time(launch.after.firstContentP99Ms) + " (p99)"
                    + launch.after.rest,
                holds: launch.holds)
        }
        let found = diagnoses.filter { !$0.holds }.map { diagnosis in
            SummaryRow(
                name: "diagnosis", network: diagnosis.network, before: "",
                after: diagnosis.after.verdict ?? "none", holds: false)
        }
        let rank = (ranks.first { !$0.holds } ?? ranks.last).map { rank in
            SummaryRow(
                name: "rank among all", network: rank.network,
                before: "\(grouped(rank.before.reads)) reads",
                after: "\(grouped(rank.after.reads)) reads", holds: rank.holds)
        }
        let cost = costs.last.map { cost in
            SummaryRow(
                name: "a diagnosis makes a launch longer by", network: cost.network,
                before: String(format: "%.1f %%", cost.before.percent),
                after: String(format: "%.1f %%", cost.after.percent), holds: cost.holds)
        }
        return shown + found + [rank, cost].compactMap(\.self)
    }
}

extension LaunchFigure {
    /// What comes after the first content, where it does.
    fileprivate var rest: String {
        [("live", liveMs), ("a picture", pictureMs)].map { name, time in
            time.map { ", \(name) \(SummaryRow.time($0))" } ?? ""
        }.joined()
    }
}
