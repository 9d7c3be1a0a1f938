import Foundation
import TidemarkModel

extension ReadsReport {
    /// The report as GitHub shows it in the summary of a run, with a newline at its end.
    package var markdown: String {
        var parts = ["### Reads: \(headline)"]
        if !comparison.grown.isEmpty {
            parts.append(table(comparison.grown))
            parts += comparison.grown.prefix(Self.maxShown).map(paragraph)
        }
        if !comparison.shrunk.isEmpty {
            parts.append("Lines that shrank:")
            parts.append(table(comparison.shrunk))
        }
        if let remark { parts.append(remark.escaped) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func table(_ list: [ReadsComparison.Difference]) -> String {
        let isByUnits = comparison.edition.isBilledByUnits
        let what = isByUnits ? " (read units, update units, reads)" : ""
        var rows = [
            "| change | caller | call | before\(what) | now | calls |",
            "|---:|---|---|---:|---:|---:|",
        ]
        rows += list.prefix(Self.maxShown).map { difference in
            let (kept, seen, key) = (difference.kept, difference.seen, difference.key)
            let calls = "\(kept.map { "\($0.calls) → " } ?? "")\(seen?.calls ?? 0)"
            let before = kept.map { kept in
                measures.map { $0.range(of: kept).amount }.joined(separator: ", ")
            }
            let now = measures.map { "\(seen.map($0.of) ?? 0)" }.joined(separator: ", ")
            return "| \(change(difference)) | \(key.label.escaped) | \(key.summary.code) "
                + "| \(before ?? "new") | \(now) | \(calls) |"
        }
        if list.count > Self.maxShown {
            rows.append("| | and \(list.count - Self.maxShown) more | | | | |")
        }
        return rows.joined(separator: "\n")
    }

    private func paragraph(_ difference: ReadsComparison.Difference) -> String {
        var lines = ["**\(change(difference))** \(difference.key.summary.code)"]
        lines += Self.details(difference).map { "- \($0.name): \($0.value.code)" }
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
