import Foundation
import Testing

@testable import TidemarkLint

/// Checks the pages of `Documentation/Lint`. Every finding has a page, and the linter agrees with
/// its examples.
struct PageTests {
    private static let folder = LintCase.folder.deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Documentation")

    /// Returns the Swift code below a heading.
    private static func code(below heading: String, in text: String) -> String? {
        guard let start = text.range(of: "## \(heading)\n```swift\n"),
            let end = text.range(of: "\n```", range: start.upperBound..<text.endIndex)
        else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }

    @Test(arguments: FindingID.allCases)
    func `a page shows code that has the finding, and code that has not`(id: FindingID) throws {
        let file = Self.folder.appending(path: "Lint/\(id.rawValue).md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let before = try #require(Self.code(below: "Before", in: text))
        let after = try #require(Self.code(below: "After", in: text))
        func ids(_ code: String) -> Set<FindingID> {
            Set(LintCase.report(on: code).findings.map(\.id))
        }
        #expect(ids(before).contains(id), "\(before)")
        #expect(!ids(after).contains(id), "\(after)")
        #expect(
            ids(after).subtracting(ids(before)).isEmpty, "the mending brings what was not there")
    }

    @Test func `the page Lint lists them all`() throws {
        let text = try String(
            contentsOf: Self.folder.appending(path: "Lint.md"), encoding: .utf8)
        for id in FindingID.allCases {
            #expect(text.contains("[\(id.rawValue)](Lint/\(id.rawValue).md) | \(id.title)"))
        }
    }

    @Test func `the configuration of the page Lint can be read`() throws {
        let text = try String(
            contentsOf: Self.folder.appending(path: "Lint.md"), encoding: .utf8)
        let start = try #require(text.range(of: "```json\n"))
        let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
        let configuration = try LintConfiguration(
            json: Data(text[start.upperBound..<end.lowerBound].utf8))
        let linter = try configuration.linter()
        #expect(linter.scale.users == 10_000 && linter.scale.sizes == ["messages": 200_000])
        #expect(linter.disabled == [.clientClock])
        #expect(linter.severities == [.sequentialReads: .warning])
    }
}
