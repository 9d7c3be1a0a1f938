import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// The page of the rules: the file with its errors and results, a question to the rules, and the
/// last requests that the rules have decided.
struct RulesPage: Page {
    let rules: Ruleset?
    /// The file that the rules follow; nil for none.
    let file: String?
    /// The problems of the present file.
    let problems: [String]
    let coverage: RulesCoverage?
    /// The requests, newest first.
    let requests: [JudgedRequest]
    let question: RulesQuestionForm
    /// The ids of the databases whose rules can differ; empty if none has its own rules.
    let databases: [String]

    var title: String { "Rules" }
    var section: Section { .rules }

    private enum CodingKeys: String, CodingKey {
        case database, databases, file, problems, source, warnings, untested, requests, allowed,
            reason, trace
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if !databases.isEmpty {
            try container.encode(question.database, forKey: .database)
            try container.encode(databases, forKey: .databases)
        }
        try container.encodeIfPresent(file, forKey: .file)
        try container.encode(problems, forKey: .problems)
        try container.encodeIfPresent(rules?.source.text, forKey: .source)
        try container.encode((rules?.advice ?? []).map(IssueJSON.init), forKey: .warnings)
        try container.encode((coverage?.untested ?? []).map(IssueJSON.init), forKey: .untested)
        try container.encode(requests.map(JudgedRequestJSON.init), forKey: .requests)
        guard case .success(let answer)? = question.answer else { return }
        try container.encode(answer.isAllowed, forKey: .allowed)
        try container.encode(answer.reason, forKey: .reason)
        try container.encode(answer.trace, forKey: .trace)
    }

    @HTMLBuilder var body: HTML {
        if !databases.isEmpty { choice }
        if !problems.isEmpty {
            Tag.div(.role("alert")) {
                Tag.p {
                    """
                    \(file ?? "The file") has errors. The previous rules stay in force.
                    """
                }
                Tag.ul { for problem in problems { Tag.li { Tag.code { problem } } } }
            }
        }
        if let rules {
            question.form
            question.result
            Tag.h2 { "File" }
            source(rules)
            Tag.h2 { "Try other rules" }
            editor(rules)
            Tag.h2 { "Recent requests" }
            requestTable
        } else {
            Tag.p {
                """
                No rules are in force\(databases.isEmpty ? "" : " for \(question.database)"), so \
                everything is allowed. Start the server with --rules FILE.
                """
            }
        }
    }

    // MARK: Parts

    /// The links to the rules of each database.
    private var choice: HTML {
        Tag.p(.data(.part, "databases")) {
            "Rules of "
            for (index, id) in databases.enumerated() {
                if index > 0 { ", " }
                if id == question.database {
                    Tag.strong { Tag.bdi { id } }
                } else {
                    Tag.a(
                        .href(
                            PagePath(
                                ["rules"], [("project", question.project), ("database", id)]))
                    ) { Tag.bdi { id } }
                }
            }
            file.map { ": \($0)" } ?? ""
        }
    }

    private func source(_ rules: Ruleset) -> HTML {
        let lines = rules.source.text.split(separator: "\n", omittingEmptySubsequences: false)
        let notes = Dictionary(
            grouping: rules.advice + (coverage?.untested ?? []), by: \.position.line)
        let answers = Dictionary(grouping: coverage?.report ?? [], by: \.position.line)
        return Tag.table(.class("source"), .label("The rules, line by line")) {
            Tag.tbody {
                for (index, line) in lines.enumerated() {
                    Tag.tr(.id("L\(index + 1)")) {
                        Tag.th(.scope("row"), .class("number")) { "\(index + 1)" }
                        Tag.td { Tag.pre { String(line) } }
                        Tag.td {
                            for allow in answers[index + 1] ?? [] {
                                Tag.small { Self.shown(allow.answers) }
                            }
                            for note in notes[index + 1] ?? [] {
                                Tag.small(.role("note")) { note.message }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func shown(_ answers: RulesCoverage.Answers) -> String {
        if answers.asked == 0 { return "not evaluated " }
        let parts = [
            ("allowed", answers.allowed), ("denied", answers.denied), ("failed", answers.failed),
            ("uncertain", answers.undecided),
        ]
        return parts.filter { $0.1 > 0 }.map { "\($0.1.grouped) \($0.0)" }.joined(separator: ", ")
            + " "
    }

    private func editor(_ rules: Ruleset) -> HTML {
        let scope = databases.isEmpty ? "" : question.database
        return Tag.form(.class("query"), .data(.part, "rules"), .data(.database, scope)) {
            Tag.label(.for("source")) {
                "Other rules: check them, and see which recent requests they decide differently"
            }
            Tag.textarea(.id("source"), .rows(16), .noSpelling) { rules.source.text }
            Tag.button(.type(.submit)) { "Try" }
            Tag.button(.type(.button), .data(.part, "put")) {
                "Apply until the file changes"
            }
            Tag.output(.live)
            Tag.ul(.data(.part, "found"))
        }
    }

    private var requestTable: HTML {
        if requests.isEmpty { return Tag.p { "No requests since the server started." } }
        return Tag.div(.class("scroll")) { rows }
    }

    private var rows: HTML {
        Tag.table {
            Tag.thead {
                Tag.tr {
                    for name in ["Who", "Does", "Where", "Verdict", "Why"] {
                        Tag.th(.scope("col")) { name }
                    }
                    if !databases.isEmpty { Tag.th(.scope("col")) { "Database" } }
                }
            }
            Tag.tbody {
                for request in requests.prefix(100) {
                    Tag.tr {
                        Tag.td { Tag.bdi { request.uid ?? "nobody" } }
                        Tag.td { request.method.rawValue }
                        Tag.td { Tag.a(.href(again(request))) { Tag.bdi { request.path } } }
                        Tag.td { request.isAllowed ? "allowed" : "denied" }
                        Tag.td { request.reason }
                        if !databases.isEmpty { Tag.td { Tag.bdi { request.database.database } } }
                    }
                }
            }
        }
    }

    /// Returns the page that asks the same question again.
    private func again(_ request: JudgedRequest) -> PagePath {
        PagePath(
            ["rules"],
            [
                ("as", request.uid ?? ""), ("do", request.method.rawValue), ("path", request.path),
                ("project", request.database.project), ("database", request.database.database),
            ])
    }
}
