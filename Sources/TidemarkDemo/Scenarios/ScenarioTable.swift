import Foundation

/// The scenarios as text: one line a network, under a line with the scenario's name and bar.
struct ScenarioTable: CustomStringConvertible {
    let results: [ScenarioResult]

    var description: String {
        let names = results.map(\.name)
        let order = names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }
        let rows = results.map(Self.cells)
        let widths = Self.head.indices.map { column in
            ([Self.head] + rows).map { $0[column].count }.max() ?? 0
        }
        var lines = [Self.line(Self.head, widths)]
        lines.append(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
        for (_, name) in order {
            let own = results.indices.filter { results[$0].name == name }
            lines.append("\(name): \(own.first.map { results[$0].bar.text } ?? "")")
            for row in own {
                lines.append(Self.line(rows[row], widths))
                lines += Self.figures(results[row]).map { "      \($0)" }
            }
        }
        return lines.joined(separator: "\n")
    }

    private static let head = [
        "network", "reads before", "after", "fewer", "missed before", "after", "twice before",
        "after", "content before", "after", "up to date before", "after", "",
    ]

    private static func cells(_ result: ScenarioResult) -> [String] {
        let (before, after) = (result.before, result.after)
        let saved = 1 - Double(after.reads) / Double(max(1, before.reads))
        return [
            "  " + result.network.rawValue, grouped(before.reads), grouped(after.reads),
            before.reads == 0 ? "-" : String(format: "%.1f %%", saved * 100),
            "\(before.difference.missed.count)", "\(after.difference.missed.count)",
            "\(before.difference.doubled.count)", "\(after.difference.doubled.count)",
            time(before.firstContent), time(after.firstContent), time(before.upToDate),
            time(after.upToDate),
            result.holds ? "holds" : "DOES NOT HOLD",
        ]
    }

    /// What the row also measures, in one line; the app as it was in brackets.
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
            return index == 0 ? cell.0 + padding : padding + cell.0
        }.joined(separator: "  ")
    }
}

/// With a comma between each three digits.
func grouped(_ number: Int) -> String {
    var digits = String(number)
    var groups: [String] = []
    while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
}
