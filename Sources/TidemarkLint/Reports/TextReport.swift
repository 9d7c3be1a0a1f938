/// The report as text: the line, a caret, the reason, and the recommended change.
package struct TextReport {
    private let report: Report
    private let texts: [String: String]

    /// - Parameter texts: The files by path, for the displayed lines.
    package init(_ report: Report, texts: [String: String]) {
        self.report = report
        self.texts = texts
    }

    package var text: String {
        var result = ""
        var lines: [String: [Substring]] = [:]
        for finding in report.findings {
            let path = finding.place.path
            if lines[path] == nil {
                lines[path] = texts[path]?.split(
                    omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            }
            let line = lines[path].flatMap { all in
                all.indices.contains(finding.place.line - 1) ? all[finding.place.line - 1] : nil
            }
            result += Self.text(of: finding, line: line.map(String.init) ?? finding.line)
        }
        for path in report.unparsed {
            result += "\(path): a part of the file is not valid Swift; the rest was read\n"
        }
        return result + summary
    }

    private static func text(of finding: Finding, line: String) -> String {
        let place = "\(finding.place.path):\(finding.place.line):\(finding.place.column)"
        let before = line.utf8.prefix(max(0, finding.place.column - 1))
        let shown = String(line.drop { $0 == " " || $0 == "\t" })
        let indent = line.utf8.count - shown.utf8.count
        let width = String(decoding: before.dropFirst(indent), as: UTF8.self).count
        let room = max(1, min(finding.length, shown.count - width))
        var text =
            "\(place): \(finding.severity.rawValue): \(finding.message) [\(finding.id.rawValue)]\n"
        text += "    \(shown)\n"
        text +=
            "    \(String(repeating: " ", count: width))"
            + "\(String(repeating: "^", count: room))\n"
        text += "    why: \(finding.reason)\n"
        text += "    do:  \(finding.mending)\n"
        if let estimate = finding.estimate {
            text += "    est: \(estimate.sentence)\n"
        }
        return text + "\n"
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number.grouped) \(noun)\(number == 1 ? "" : "s")"
    }

    private var summary: String {
        let counts = Severity.allCases.reversed().compactMap { severity -> String? in
            let count = report.count(of: severity)
            return count == 0 ? nil : Self.count(count, severity.rawValue)
        }
        var text =
            "\(Self.count(report.files, "file")), \(Self.count(report.operations, "call")) of Firestore: "
            + (counts.isEmpty ? "nothing found" : counts.joined(separator: ", "))
        if report.known > 0 { text += "; \(report.known) known from the baseline" }
        if report.ignored > 0 { text += "; \(report.ignored) ignored by comments" }
        text += "\n"
        if let sentence = report.untoldSentence {
            text += "\(sentence) (--show-untold lists them)\n"
        }
        return text
    }

    /// The places for which the code shows too little.
    package var untold: String {
        report.untold.map {
            "\($0.place.path):\($0.place.line):\($0.place.column): cannot tell \($0.sentence)\n"
        }.joined()
    }
}

/// A line per finding, in the format of Xcode and of GitHub's runners.
package struct LineReport {
    private let report: Report
    private let root: String?

    /// - Parameter root: The folder of relative paths, for Xcode, which needs absolute paths.
    package init(_ report: Report, in root: String? = nil) {
        self.report = report
        self.root = root
    }

    package var xcode: String {
        report.findings.map { finding in
            "\(whole(finding.place.path)):\(finding.place.line):\(finding.place.column): "
                + "\(finding.severity.rawValue): \(finding.message) \(finding.mending) "
                + "[\(finding.id.rawValue)]\n"
        }.joined() + (untold.map { "tidemark-lint: \($0)\n" } ?? "")
    }

    private func whole(_ path: String) -> String {
        guard let root, !path.hasPrefix("/") else { return path }
        return root + "/" + path
    }

    /// A separate line, if there are places that the linter cannot judge.
    private var untold: String? { report.untoldSentence }

    package var github: String {
        report.findings.map { finding in
            let kind = finding.severity == .note ? "notice" : finding.severity.rawValue
            var text = "\(finding.message)\n\(finding.reason)\n\(finding.mending)"
            if let estimate = finding.estimate { text += "\n\(estimate.sentence)" }
            return "::\(kind) file=\(Self.property(finding.place.path)),"
                + "line=\(finding.place.line),col=\(finding.place.column),"
                + "title=\(finding.id.rawValue)::\(Self.data(text))\n"
        }.joined() + (untold.map { "::notice title=tidemark-lint::\(Self.data($0))\n" } ?? "")
    }

    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
