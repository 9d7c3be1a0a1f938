package import TidemarkModel
package import TidemarkRules

/// Reads Swift code and reports unnecessary costs.
///
/// The linter is pure: texts in, a report out. It reads no file and makes no request.
package struct Linter {
    package var scale = Scale()
    /// The rules of the database; nil if queries are not checked against them.
    package var rules: Ruleset?
    package var indexes: IndexCatalog?
    /// The disabled checks.
    package var disabled: Set<FindingID> = []
    /// The severities that differ from the defaults.
    package var severities: [FindingID: Severity] = [:]

    /// The version of the package.
    package static var version: String { Version.number }

    package init() {}

    /// Returns the report on the files of an app or target, which share their names.
    ///
    /// - Parameter sources: The texts by path, as the report names them.
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

/// The findings, and the numbers of examined files, lines and operations.
package struct Report: Codable, Sendable {
    package struct Untold: Codable, Sendable, Hashable {
        package var place: Place
        package var sentence: String
    }

    package var findings: [Finding] = []
    /// The places for which the code shows too little, and the missing information.
    package var untold: [Untold] = []
    /// Files with syntax that the parser does not know; the known parts were read.
    package var unparsed: [String] = []
    package var files = 0
    package var lines = 0
    /// The number of places that use Firestore.
    package var operations = 0
    package var ignored = 0
    /// The number of findings in the baseline.
    package var known = 0
    package var documents: Int
    package var opens: Int
    package var users: Int

    init(scale: Scale) {
        documents = scale.documents
        opens = scale.opens
        users = scale.users
    }

    /// The most expensive findings first, by their reads, without findings that have no estimate.
    package var costliest: [Finding] {
        findings.filter { $0.estimate != nil }.sorted {
            ($0.estimate!.readsAMonth, $1.place) > ($1.estimate!.readsAMonth, $0.place)
        }
    }

    package func count(of severity: Severity) -> Int {
        findings.count { $0.severity == severity }
    }

    /// The number of places that the linter cannot judge, for every form of the report; nil if
    /// there are none.
    var untoldSentence: String? {
        guard !untold.isEmpty else { return nil }
        let calls = untold.count == 1 ? "1 call" : "\(untold.count.grouped) calls"
        return "\(calls) could not be checked: the code does not show the query"
    }
}
