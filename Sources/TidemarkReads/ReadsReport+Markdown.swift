import Foundation

extension ReadsReport {
    /// The report as GitHub shows it in the summary of a run, with a newline at its end.
    package var markdown: String {
        var parts = ["### Reads: \(headline)"]
        if !comparison.grown.isEmpty {
            parts.append(Self.table(comparison.grown))
            parts += comparison.grown.prefix(Self.maxShown).map(Self.paragraph)
        }
        if !comparison.shrunk.isEmpty {
            parts.append("Lines that shrank:")
            parts.append(Self.table(comparison.shrunk))
        }
        if let remark { parts.append(remark.escaped) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func table(_ list: [ReadsComparison.Difference]) -> String {
        var rows = [
            "| change | caller | call | before | now | calls |",
            "|---:|---|---|---:|---:|---:|",
        ]
        rows += list.prefix(maxShown).map { difference in
            let (kept, seen, key) = (difference.kept, difference.seen, difference.key)
            let sign = difference.change > 0 ? "+" : ""
            let calls = "\(kept.map { "\($0.calls) → " } ?? "")\(seen?.calls ?? 0)"
            return "| \(sign)\(difference.change) | \(key.label.escaped) | \(key.summary.code) "
                + "| \(kept?.amount ?? "new") | \(seen?.reads ?? 0) | \(calls) |"
        }
        if list.count > maxShown { rows.append("| | and \(list.count - maxShown) more | | | | |") }
        return rows.joined(separator: "\n")
    }

    private static func paragraph(_ difference: ReadsComparison.Difference) -> String {
        var lines = ["**+\(difference.change)** \(difference.key.summary.code)"]
        lines += details(difference).map { "- \($0.name): \($0.value.code)" }
        lines += ReadAdvice.advice(on: difference).map { "- " + $0.escaped }
        return lines.joined(separator: "\n")
    }
}

extension String {
    /// The text with the characters escaped that Markdown, HTML or a table would read.
    fileprivate var escaped: String {
        var result = ""
        for character in oneLine {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\\", "`", "*", "_", "[", "]", "|", "~", "#", "@":
                result += "\\" + String(character)
            default: result.append(character)
            }
        }
        return result
    }

    /// The text as code. HTML's element holds backticks and, escaped, the bar of a table.
    fileprivate var code: String { isEmpty ? "" : "<code>\(escaped)</code>" }
}
