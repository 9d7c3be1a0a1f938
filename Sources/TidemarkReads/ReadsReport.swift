import Foundation
import TidemarkModel

/// The result of a check as text, for GitHub's summary, and as JSON.
package struct ReadsReport: Sendable {
    let comparison: ReadsComparison
    /// The name of the file with the recorded reads.
    let file: String

    /// The maximum number of lines that each list of a text shows.
    static let maxShown = 50

    package init(_ comparison: ReadsComparison, file: String) {
        self.comparison = comparison
        self.file = file
    }

    /// The result in one sentence.
    package var headline: String {
        let counts = ReadMeasure.all(of: comparison.edition).map { measure in
            let sum = comparison.sums[measure]
            return "\(sum?.seen ?? 0) \(measure.word)s, \(sum?.allowed ?? 0) recorded"
        }.joined(separator: "; ")
        switch comparison.verdict {
        case .grew: return "\(Self.lines(comparison.grown.count)) grew: \(counts)."
        case .shrank: return "\(Self.lines(comparison.shrunk.count)) shrank, none grew: \(counts)."
        case .same: return "No line grew: \(counts)."
        }
    }

    /// The advice after the lists; nil if the file is up to date.
    var remark: String? {
        let isOld = !comparison.shrunk.isEmpty || !comparison.moved.isEmpty
        switch comparison.verdict {
        case .grew:
            return """
                If the new reads are wanted, run the command with 'tidemark reads record', and \
                commit \(file).
                """
        case .shrank, .same:
            guard isOld else { return nil }
            return "Run the command with 'tidemark reads record', so that \(file) stays as low."
        }
    }

    // MARK: For a person

    /// The report for a terminal, with a newline at its end.
    package var text: String {
        var parts = ["tidemark reads: \(headline)"]
        parts += comparison.grown.prefix(Self.maxShown).map(block)
        parts += Self.rest(comparison.grown, "more lines grew.")
        let shrunk = comparison.shrunk.prefix(Self.maxShown).map(line)
        if !shrunk.isEmpty { parts.append(shrunk.joined(separator: "\n")) }
        parts += Self.rest(comparison.shrunk, "more lines shrank.")
        if let remark { parts.append(remark) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func rest(_ list: [ReadsComparison.Difference], _ what: String) -> [String] {
        list.count > maxShown ? ["\(list.count - maxShown) \(what)"] : []
    }

    /// The line that shrank, in one line of text.
    private func line(_ difference: ReadsComparison.Difference) -> String {
        let key = difference.key
        return "\(change(difference))  \(key.label.oneLine)  \(key.summary.oneLine): "
            + amounts(difference)
    }

    /// The line that grew, with its cause and advice.
    private func block(_ difference: ReadsComparison.Difference) -> String {
        let key = difference.key
        var lines = [
            "\(change(difference))  \(key.label.oneLine)  \(key.summary.oneLine)",
            "    \(amounts(difference))",
        ]
        for (name, value) in Self.details(difference) {
            lines.append("    \(name): \(value.oneLine)")
        }
        lines += ReadAdvice.advice(on: difference).map { "    " + $0 }
        return lines.joined(separator: "\n")
    }

    var measures: [ReadMeasure] { ReadMeasure.all(of: comparison.edition) }

    /// The change of a line: its reads, or the units and reads of the Enterprise edition.
    func change(_ difference: ReadsComparison.Difference) -> String {
        func signed(_ change: Int) -> String { (change > 0 ? "+" : "") + "\(change)" }
        guard comparison.edition.isBilledByUnits else { return signed(difference.change) }
        return measures.compactMap { measure in
            let change = difference.change(of: measure)
            let word = measure.word + (abs(change) == 1 ? "" : "s")
            return change == 0 ? nil : "\(signed(change)) \(word)"
        }.joined(separator: ", ")
    }

    /// The reads and the calls, before and now.
    func amounts(_ difference: ReadsComparison.Difference) -> String {
        let now = difference.seen
        let calls = Self.counted(now?.calls ?? 0, "call")
        let amounts = measures.map { measure in
            let amount = Self.counted(now.map(measure.of) ?? 0, measure.word)
            guard let kept = difference.kept else { return amount }
            return "\(measure.range(of: kept).amount) → \(amount)"
        }.joined(separator: ", ")
        guard let kept = difference.kept else { return "new: \(amounts), \(calls)" }
        return "\(amounts), \(kept.calls) → \(calls)"
    }

    /// The facts about a line that grew, by name.
    static func details(
        _ difference: ReadsComparison.Difference
    ) -> [(name: String, value: String)] {
        var details: [(name: String, value: String)] = []
        if let seen = difference.seen, !seen.example.isEmpty {
            details.append(("largest call", seen.example))
        }
        if let indexes = difference.seen?.indexes, !indexes.isEmpty {
            details.append(("index", indexes.joined(separator: ", ")))
        }
        if let replaced = difference.replaced {
            let isRenamed = replaced.label != difference.key.label
            let text = isRenamed ? "\(replaced.label) \(replaced.summary)" : replaced.summary
            details.append(("instead of", text))
        }
        if let reason = difference.kept?.reason { details.append(("range", reason)) }
        return details
    }

    static func counted(_ count: Int, _ word: String) -> String {
        "\(count) \(word)\(count == 1 ? "" : "s")"
    }

    private static func lines(_ count: Int) -> String { counted(count, "line") }
}

extension String {
    /// The text on one line: control characters become spaces.
    var oneLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map {
                    $0.properties.generalCategory == .control
                        || ["\u{2028}", "\u{2029}"].contains($0) ? " " : $0
                }))
    }
}
