import Foundation
import Testing
import TestSupport

@testable import TidemarkLint

/// Lints the project's own code, which explains every finding in a comment at its place.
/// Tests/Interop lints the whole repository. This test lints only the files that use Firestore,
/// which takes seconds.
@Suite(.ownThread) struct OwnCodeTests {
    private static let root = LintCase.folder.deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let names = [
        "addSnapshotListener", "getDocument", "setData", "updateData", "addDocument", ".snapshots",
        "getAggregation", "runTransaction",
    ]

    private static func sources(
        in folder: String, where isWanted: (String) -> Bool
    ) throws -> [(path: String, text: String)] {
        var sources: [(path: String, text: String)] = []
        let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        while let path = all?.nextObject() as? String {
            guard path.hasSuffix(".swift") else { continue }
            let file = root.appending(path: "\(folder)/\(path)")
            let text = try String(contentsOf: file, encoding: .utf8)
            if isWanted(text) { sources.append(("\(folder)/\(path)", text)) }
        }
        return sources.sorted { $0.path < $1.path }
    }

    @Test func `has no finding that a comment does not explain`() throws {
        let sources = try ["Sources", "Examples", "Benchmarks"].flatMap { folder in
            try Self.sources(in: folder) { text in Self.names.contains(where: text.contains) }
        }
        #expect(sources.count >= 60)
        let report = Linter().report(on: sources)
        #expect(report.operations >= 90 && report.ignored >= 30)
        #expect(report.findings.isEmpty, "\(report.findings.map { "\($0.place) \($0.message)" })")
    }

    /// The findings that each journey lists must be the findings in the example's old app.
    @Test(arguments: [
        (
            "Examples/Chats", "ChatsBefore.swift",
            [
                FindingID.unboundedListener, .listenerErrorIgnored, .listenerNeverRemoved,
                .readInLoop, .decodeOnMain, .writeErrorIgnored,
            ]
        ),
        (
            "Examples/Messages", "MessagesBefore.swift",
            [
                .unboundedListener, .listenerErrorIgnored, .listenerNeverRemoved, .decodeOnMain,
                .writeErrorIgnored,
            ]
        ),
        ("Examples/Homes", "HomesBefore.swift", [.unboundedListener]),
        ("Examples/Stamps", "StampsBefore.swift", [.serverSourceAtLaunch]),
    ])
    func `finds what the apps did as they were`(
        folder: String, name: String, ids: [FindingID]
    ) throws {
        let sources = try Self.sources(in: folder) { _ in true }.map { source in
            (path: source.path, text: source.text.replacing("tidemark:ignore", with: "was told"))
        }
        let report = Linter().report(on: sources)
        let found = Set(report.findings.filter { $0.place.path.hasSuffix(name) }.map(\.id))
        #expect(found == Set(ids))
    }
}
