import Foundation

/// The scenarios as text: one line per client and network, under a line with the scenario's name
/// and bar.
struct ScenarioTable: CustomStringConvertible {
    let results: [ScenarioResult]

    var description: String {
        let names = results.map(\.name)
        let order = names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }
        let rows = results.map(Self.lines)
        let widths = Self.head.indices.map { column in
            ([Self.head] + rows.flatMap(\.self)).map { $0[column].count }.max() ?? 0
        }
        var lines = [Self.line(Self.head, widths)]
        lines.append(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
        for (_, name) in order {
            let own = results.indices.filter { results[$0].name == name }
            lines.append(own.first.map { Self.title(results[$0]) } ?? name)
            for row in own {
                lines += rows[row].map { Self.line($0, widths) }
                lines += Self.figures(results[row]).map { "      \($0)" }
                if let forecast = results[row].forecastText { lines.append("      \(forecast)") }
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func title(_ result: ScenarioResult) -> String {
        let away = result.away.map { ", \(SummaryRow.away($0)) away" } ?? ""
        return "\(result.name)\(away): \(result.bar.text)"
    }

    private static let head = [
        "network", "client", "reads", "fewer", "missed", "twice", "edits missed", "deleted shown",
        "content", "up to date", "",
    ]

    /// Returns the lines of the app as it was, the filtered app if there is one, and the app on
    /// Tidemark.
    private static func lines(_ result: ScenarioResult) -> [[String]] {
        let clients = [
            ("before", result.before), ("filtered", result.filtered), ("tidemark", result.after),
        ]
        return clients.compactMap { name, measured in
            measured.map { cells(result, name: name, measured: $0) }
        }
    }

    private static func cells(
        _ result: ScenarioResult, name: String, measured: Measured
    ) -> [String] {
        let reads = (before: result.before.reads, own: measured.reads)
        let saved = 1 - Double(reads.own) / Double(max(1, reads.before))
        let difference = measured.difference
        return [
            name == "before" ? "  " + result.network.rawValue : "", name, grouped(reads.own),
            name == "before" || reads.before == 0 ? "-" : String(format: "%.1f %%", saved * 100),
            "\(difference.missed.count)", "\(difference.doubled.count)",
            "\(difference.outdated.count)", "\(difference.deletedShown.count)",
            time(measured.firstContent), time(measured.upToDate),
            name == "tidemark" ? verdict(result) : "",
        ]
    }

    private static func verdict(_ result: ScenarioResult) -> String {
        if !result.holds { return "DOES NOT HOLD" }
        return (["holds"] + result.slow.map(\.text)).joined(separator: "; ")
    }

    /// Returns one line with the row's other figures, with those of the app as it was in brackets.
    private static func figures(_ result: ScenarioResult) -> [String] {
        let (before, after) = (result.before.figures, result.after.figures)
        if after.isEmpty { return [] }
        return [
            after.sorted { $0.key < $1.key }.map { name, figure in
                let was = before[name].map { " (\(Bar.number($0)))" } ?? ""
                return "\(name) \(Bar.number(figure))\(was)"
            }.joined(separator: " · ")
        ]
    }

    private static func time(_ duration: Duration?) -> String {
        guard let milliseconds = duration?.milliseconds else { return "-" }
        return String(format: milliseconds < 10 ? "%.1f ms" : "%.0f ms", milliseconds)
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            if index == cells.count - 1 { return cell.0 }
            return index < 2 ? cell.0 + padding : padding + cell.0
        }.joined(separator: "  ")
    }
}

/// Returns the number with a comma between groups of three digits.
func grouped(_ number: Int) -> String {
    var digits = String(number)
    var groups: [String] = []
    while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
}
