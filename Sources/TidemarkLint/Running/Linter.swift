package import TidemarkModel
package import TidemarkRules

/// Reads Swift code and says what of it costs more than it must.
///
/// Pure: texts in, a report out. Reads no file and asks nobody.
package struct Linter {
    package var scale = Scale()
    /// Of the database; nil where queries are not to be held against them.
    package var rules: Ruleset?
    package var indexes: IndexCatalog?
    /// Not looked for.
    package var disabled: Set<FindingID> = []
    /// Other severities than the usual ones.
    package var severities: [FindingID: Severity] = [:]

    package init() {}

    /// Files of one app or target, whose names know each other.
    ///
    /// - Parameter sources: Texts by path, as the report shall name them.
    package func report(on sources: [(path: String, text: String)]) -> Report {
        let trees = ParsedTrees(of: sources.map(\.text)).trees
        let files = zip(sources, trees).map {
            SourceFile(path: $0.path, text: $0.text, tree: $1)
        }
        let context = CheckContext(
            Project(files), scale: scale, rules: rules, indexes: indexes)
        var report = Report(scale: scale)
        report.files = files.count
        report.lines = files.reduce(0) { $0 + $1.lines.count }
        report.unparsed = files.filter(\.hasSyntaxErrors).map(\.path)
        report.operations = context.operations.count
        let directives = Dictionary(
            files.map { ($0.path, Directives($0)) }, uniquingKeysWith: { first, _ in first })
        for finding in Checks.findings(in: context) {
            if disabled.contains(finding.id) { continue }
            if directives[finding.place.path]?.covers(finding) == true {
                report.ignored += 1
            } else {
                report.findings.append(adjusted(finding))
            }
        }
        if !disabled.contains(.ignoredWithoutReason) {
            for file in files {
                report.findings += (directives[file.path]?.faults(in: file) ?? []).map(adjusted)
            }
        }
        report.findings.sort()
        report.untold = context.untold.map { Report.Untold(place: $0, sentence: $1) }
            .sorted { $0.place < $1.place }
        return report
    }

    private func adjusted(_ finding: Finding) -> Finding {
        var result = finding
        if let severity = severities[finding.id] { result.severity = severity }
        return result
    }
}

/// What was found, and what was looked at.
package struct Report: Codable, Sendable {
    package struct Untold: Codable, Sendable, Hashable {
        package var place: Place
        package var sentence: String
    }

    package var findings: [Finding] = []
    /// Where the code does not say enough, and what it does not say.
    package var untold: [Untold] = []
    /// Files with syntax that the parser does not know; what it knows of them was read.
    package var unparsed: [String] = []
    package var files = 0
    package var lines = 0
    /// Places that speak to Firestore.
    package var operations = 0
    package var ignored = 0
    /// Findings that a baseline has.
    package var known = 0
    package var documents: Int
    package var opens: Int
    package var users: Int

    init(scale: Scale) {
        documents = scale.documents
        opens = scale.opens
        users = scale.users
    }

    /// The costliest first, by their reads; those without an estimate left out.
    package var costliest: [Finding] {
        findings.filter { $0.estimate != nil }.sorted {
            ($0.estimate!.readsAMonth, $1.place) > ($1.estimate!.readsAMonth, $0.place)
        }
    }

    package func count(of severity: Severity) -> Int {
        findings.count { $0.severity == severity }
    }

    /// How much it cannot tell, for every form of the report; nil for nothing.
    var untoldSentence: String? {
        guard !untold.isEmpty else { return nil }
        let calls = untold.count == 1 ? "1 call" : "\(untold.count.grouped) calls"
        return "\(calls) that it cannot tell about: the code does not show which query it is"
    }
}
