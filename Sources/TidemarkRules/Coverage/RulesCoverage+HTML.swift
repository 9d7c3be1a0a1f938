extension RulesCoverage {
    /// The file as an HTML page: each line with the answers of its `allow`s, and the parts that
    /// were never tested.
    public var html: String {
        var notes: [Int: [String]] = [:]
        for allow in report {
            let answers = allow.answers
            let note =
                answers.asked == 0
                ? "not evaluated"
                : "\(answers.allowed) allowed, \(answers.denied) denied, \(answers.failed) failed, "
                    + "\(answers.undecided) uncertain"
            notes[allow.position.line, default: []].append(note)
        }
        let untested = Dictionary(grouping: untested, by: \.position.line)
        var rows = ""
        let lines = rules.source.text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let issues = untested[index + 1] ?? []
            let title = issues.map(\.message).joined(separator: " ")
            let code = Self.escaped(String(line))
            let shown =
                issues.isEmpty ? code : "<mark title=\"\(Self.escaped(title))\">\(code)</mark>"
            let note = (notes[index + 1] ?? []).joined(separator: "; ")
            rows += "<tr><th>\(index + 1)</th><td><pre>\(shown)</pre></td>"
            rows += "<td>\(Self.escaped(note))</td></tr>\n"
        }
        return """
            <!DOCTYPE html><html lang="en"><head><meta charset="utf-8">\
            <meta name="color-scheme" content="light dark"><title>Coverage of the rules</title>\
            </head><body><h1>Coverage of the rules</h1>
            <p>Marked: something there was not asked, or always gave the same answer.</p>
            <table>
            \(rows)</table></body></html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
