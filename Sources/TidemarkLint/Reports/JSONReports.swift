package import Foundation

extension Report {
    /// The whole report, with sorted keys.
    package var json: Data { Self.encoded(self) }

    /// The report in the format of code hosts: SARIF 2.1.0.
    package var sarif: Data { Self.encoded(SARIF(self)) }

    private static func encoded(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)) ?? Data()
    }
}

/// The parts of SARIF that a linter uses.
private struct SARIF: Encodable {
    struct Text: Encodable { let text: String }
    struct Rule: Encodable {
        let id: String
        let shortDescription: Text
        let defaultConfiguration: Configuration
        let helpUri: String
    }
    struct Configuration: Encodable { let level: String }
    struct Driver: Encodable {
        let name = "tidemark-lint"
        let rules: [Rule]
    }
    struct Tool: Encodable { let driver: Driver }
    struct Artifact: Encodable { let uri: String }
    struct Region: Encodable {
        let startLine: Int
        let startColumn: Int
    }
    struct PhysicalLocation: Encodable {
        let artifactLocation: Artifact
        let region: Region
    }
    struct Location: Encodable { let physicalLocation: PhysicalLocation }
    struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Text
        let locations: [Location]
    }
    struct Notification: Encodable {
        let level = "note"
        let message: Text
        let locations: [Location]
    }
    struct Invocation: Encodable {
        let executionSuccessful = true
        /// The places that the linter cannot judge.
        let toolExecutionNotifications: [Notification]
    }
    struct Run: Encodable {
        let tool: Tool
        let columnKind = "utf16CodeUnits"
        let invocations: [Invocation]
        let results: [Result]
    }

    let version = "2.1.0"
    let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    let runs: [Run]

    enum CodingKeys: String, CodingKey {
        case version, runs
        case schema = "$schema"
    }

    init(_ report: Report) {
        let rules = FindingID.allCases.map { id in
            Rule(
                id: id.rawValue, shortDescription: Text(text: id.title),
                defaultConfiguration: Configuration(level: id.severity.rawValue),
                helpUri: id.page)
        }
        let results = report.findings.map { finding in
            Result(
                ruleId: finding.id.rawValue,
                ruleIndex: FindingID.allCases.firstIndex(of: finding.id) ?? 0,
                level: finding.severity.rawValue,
                message: Text(text: "\(finding.message) \(finding.reason) \(finding.mending)"),
                locations: [Self.location(finding.place)])
        }
        let untold = report.untold.map {
            Notification(
                message: Text(text: "Cannot tell \($0.sentence)."),
                locations: [Self.location($0.place)])
        }
        runs = [
            Run(
                tool: Tool(driver: Driver(rules: rules)),
                invocations: [Invocation(toolExecutionNotifications: untold)], results: results)
        ]
    }

    private static func location(_ place: Place) -> Location {
        Location(
            physicalLocation: PhysicalLocation(
                artifactLocation: Artifact(uri: place.path),
                region: Region(startLine: place.line, startColumn: place.column)))
    }
}
