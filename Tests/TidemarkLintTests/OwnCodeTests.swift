import Foundation
import Testing

@testable import TidemarkLint

/// The project's own code that speaks to Firestore as an app does. The demos are left out: they play
/// apps as they were.
struct OwnCodeTests {
    private static let folders = ["TidemarkApp", "TidemarkHealthSync", "TidemarkCLI"]
    private static let names = [
        "addSnapshotListener", "getDocument", "setData", "updateData", "addDocument",
    ]

    @Test func `has no finding that a comment does not explain`() throws {
        let root = LintCase.folder.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var sources: [(path: String, text: String)] = []
        for folder in Self.folders {
            let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            while let path = all?.nextObject() as? String {
                guard path.hasSuffix(".swift") else { continue }
                let file = root.appending(path: "\(folder)/\(path)")
                let text = try String(contentsOf: file, encoding: .utf8)
                if Self.names.contains(where: text.contains) { sources.append((path, text)) }
            }
        }
        #expect(sources.count >= 10)
        let report = Linter().report(on: sources.sorted { $0.path < $1.path })
        #expect(report.operations >= 8 && report.ignored >= 2)
        #expect(report.findings.isEmpty, "\(report.findings.map { "\($0.place) \($0.message)" })")
    }
}
