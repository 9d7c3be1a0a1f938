import Foundation

/// A row of a journey, on the network that shows most about it.
struct SummaryRow: Hashable {
    private static let longestName = 54

    let name: String
    let network: String
    /// The time since the device's last use.
    var away = ""
    let before: String
    /// The result of the filtered app; empty if there is none.
    var filtered = ""
    let after: String
    var holds = true
    /// The times that exceeded their limits.
    var slow: [SlowTime] = []

    func line(_ widths: [Int]) -> String {
        var line = "  "
        for (text, width) in zip(cells, widths) where width > 0 {
            line += text + String(repeating: " ", count: max(0, width - text.count) + 2)
        }
        return line + after + verdict
    }

    /// The cells except the last one, which has no fixed width.
    var cells: [String] { [name, network, away, before, filtered] }

    private var verdict: String {
        if !holds { return "  DOES NOT HOLD" }
        guard let first = slow.first else { return "" }
        return "  " + first.text + (slow.count > 1 ? " (and \(slow.count - 1) more)" : "")
    }

    static func shortened(_ name: String) -> String {
        name.count <= longestName ? name : name.prefix(longestName - 1) + "…"
    }
}

extension SummaryRow {
    /// Returns one row per scenario: on its first network with a failed requirement, or else on the
    /// network with the slowest app as it was.
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
            away: result.filtered == nil ? "" : result.away.map(Self.away) ?? "new",
            before: Self.text(result.before), filtered: result.filtered.map(Self.text) ?? "",
            after: Self.text(result.after), holds: result.holds, slow: result.slow)
    }

    /// Returns the duration in words, such as `20 min` or `7 d`.
    static func away(_ seconds: Int64) -> String {
        if seconds >= 86_400 { return "\(seconds / 86_400) d" }
        return seconds >= 3_600 ? "\(seconds / 3_600) h" : "\(seconds / 60) min"
    }

    private static func text(_ measured: Measured) -> String {
        var parts = [measured.reads == 1 ? "1 read" : "\(grouped(measured.reads)) reads"]
        parts += measured.difference.texts
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
            name: "devices, killed at \(scenario.after.killed) steps", network: scenario.network,
            before: text(scenario.before), after: text(scenario.after), holds: scenario.holds)
    }

    init(_ scenario: LaunchScenario<[String: Double]>) {
        func text(_ figures: [String: Double]) -> String {
            func number(_ key: String) -> String { figures[key].map(Bar.number) ?? "-" }
            let shown = number("shown")
            return "\(number("MiB")) MiB, \(number("downloads")) downloads, \(shown) shown"
        }
        self.init(
            name: Self.shortened(scenario.name), network: scenario.network,
            before: text(scenario.before), after: text(scenario.after), holds: scenario.holds,
            slow: scenario.slow)
    }
}

extension LaunchDemoFigures {
    /// The rows of the launches: one per network, one for each diagnosis with a problem, one for
    /// the rank, one for the cost of a diagnosis, and two for the update from FirebaseFirestore.
    var summary: [SummaryRow] {
        let shown = launches.map { launch in
            SummaryRow(
                name: "first content", network: launch.network,
                before: launch.before.summary, after: launch.after.summary, holds: launch.holds,
                slow: launch.slow)
        }
        let found = diagnoses.filter { !$0.holds || !$0.slow.isEmpty }.map { diagnosis in
            SummaryRow(
                name: "diagnosis", network: diagnosis.network, before: "",
                after: diagnosis.after.verdict ?? "none", holds: diagnosis.holds,
                slow: diagnosis.slow)
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
                after: String(format: "%.1f %%", cost.after.percent), holds: cost.holds,
                slow: cost.slow)
        }
        let updated = updates.map { update in
            SummaryRow(
                name: update.name, network: update.network, before: update.before.text,
                after: update.after.text, holds: update.holds)
        }
        return shown + found + [rank, cost].compactMap(\.self) + updated
    }
}

extension LaunchFigure {
    fileprivate var summary: String {
        "\(SummaryRow.time(firstContentMs)), \(SummaryRow.time(slowest.ms)) (\(slowest.name))"
            + rest
    }

    /// The times after the first content, as far as there are any.
    fileprivate var rest: String {
        [("live", liveMs), ("a picture", pictureMs)].map { name, time in
            time.map { ", \(name) \(SummaryRow.time($0))" } ?? ""
        }.joined()
    }
}
