import TidemarkModel
package import TidemarkRules
package import TidemarkServer

// The JSON messages of ``RulesEndpoint``.

struct EmulatorRules: Decodable {
    struct Files: Decodable { let files: [File] }
    struct File: Decodable { let content: String }

    let rules: Files
    let ignoreErrors: Bool?

    enum CodingKeys: String, CodingKey {
        case rules
        case ignoreErrors = "ignore_errors"
    }
}

struct EmulatorError: Encodable {
    struct Body: Encodable { let code: Int, message: String, status: String }

    let error: Body
}

struct EmulatorIssues: Encodable {
    struct Issue: Encodable {
        let sourcePosition: Place
        let severity: String
        let description: String
    }
    struct Place: Encodable { let line: Int, column: Int }

    let issues: [Issue]

    init(_ issues: [RulesIssue]) {
        self.issues = issues.map { issue in
            Issue(
                sourcePosition: Place(line: issue.position.line, column: issue.position.column),
                severity: issue.severity == .error ? "ERROR" : "WARNING",
                description: issue.message)
        }
    }
}

/// An issue of a file, with its place.
package struct IssueJSON: Encodable, Sendable {
    let severity: String
    let line: Int
    let column: Int
    let message: String

    package init(_ issue: RulesIssue) {
        severity = issue.severity.rawValue
        line = issue.position.line
        column = issue.position.column
        message = issue.message
    }
}

struct RulesState: Encodable {
    let isInForce: Bool
    /// The path of the rules file; nil if the rules are not from a file.
    let file: String?
    /// The errors in the current file.
    let problems: [String]
    let warnings: [IssueJSON]
    let source: String?
    let errors: String?
    /// The files of databases with their own rules, by id; nil if there are none.
    let databases: [String: String]?

    /// - Parameters:
    ///   - settings: The rules in force; nil for none.
    ///   - watch: The watched file of these rules.
    init(
        _ settings: RulesSettings?, _ watch: RulesFileWatch?,
        databases: [String: RulesFileWatch]
    ) {
        isInForce = settings != nil
        file = watch?.name
        problems = watch?.problems ?? []
        warnings = (settings?.rules.advice ?? []).map(IssueJSON.init)
        source = settings?.rules.source.text
        errors = settings?.errors.rawValue
        self.databases = databases.isEmpty ? nil : databases.mapValues(\.name)
    }
}

struct RulesAnswerJSON: Encodable {
    let allowed: Bool
    let reason: String
    let trace: [String]
    let reads: Int

    init(_ answer: RulesAnswer) {
        allowed = answer.isAllowed
        reason = answer.reason
        trace = answer.trace
        reads = answer.reads
    }
}

/// A request that the rules have judged.
package struct JudgedRequestJSON: Encodable, Sendable {
    let number: Int
    let milliseconds: Int64
    let database: String
    let label: String?
    let method: String
    let path: String
    let uid: String?
    let allowed: Bool
    let reason: String
    let lines: [Int]

    package init(_ request: JudgedRequest) {
        number = request.number
        milliseconds = request.time.milliseconds
        database = request.database.name
        label = request.label
        method = request.method.rawValue
        path = request.path
        uid = request.uid
        allowed = request.isAllowed
        reason = request.reason
        lines = request.lines
    }
}

struct AttemptJSON: Encodable {
    struct Flip: Encodable {
        let request: JudgedRequestJSON
        let allowed: Bool
        let reason: String
    }

    let issues: [IssueJSON]
    let flips: [Flip]

    init(issues: [RulesIssue], flips: [RulesFlip]) {
        self.issues = issues.map(IssueJSON.init)
        self.flips = flips.map {
            Flip(
                request: JudgedRequestJSON($0.request), allowed: $0.isAllowed, reason: $0.reason)
        }
    }
}

/// The results of each `allow`, and the expressions that were not tested.
struct CoverageJSON: Encodable {
    struct Allow: Encodable {
        let line: Int
        let text: String
        let allowed: Int
        let denied: Int
        let failed: Int
        let undecided: Int
    }

    let allows: [Allow]
    let untested: [IssueJSON]

    init(_ coverage: RulesCoverage) {
        allows = coverage.report.map { allow in
            Allow(
                line: allow.position.line, text: allow.text, allowed: allow.answers.allowed,
                denied: allow.answers.denied, failed: allow.answers.failed,
                undecided: allow.answers.undecided)
        }
        untested = coverage.untested.map(IssueJSON.init)
    }
}
