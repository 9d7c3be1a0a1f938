import Testing

/// The version is one constant. Documents that show it must agree.
struct `The version` {
    private func lines(_ path: String) throws -> [String] {
        try #require(Repository.files.first { $0.path == path }, "\(path)").lines
    }

    /// Returns the constant that `tidemark --version` prints and that the client sends.
    private func number() throws -> String {
        let line = try #require(
            try lines("Sources/TidemarkModel/RPC/Version.swift")
                .first { $0.contains("static let number") })
        let match = try #require(line.firstMatch(of: /"([0-9]+\.[0-9]+\.[0-9]+)"/))
        return String(match.output.1)
    }

    @Test func `has a section of the changelog, newest first`() throws {
        let headings = try lines("CHANGELOG.md").filter { $0.hasPrefix("## ") }
        let versions = headings.compactMap { heading in
            heading.wholeMatch(of: /## ([0-9]+)\.([0-9]+)\.([0-9]+)( – .+)?/).map {
                [Int($0.output.1)!, Int($0.output.2)!, Int($0.output.3)!]
            }
        }
        #expect(versions.count >= headings.count - 1, "other headings than versions: \(headings)")
        if versions.count < headings.count { #expect(headings[0] == "## Unreleased") }
        let newest = try #require(versions.first).map(String.init).joined(separator: ".")
        #expect(newest == (try number()))
        for (later, earlier) in zip(versions, versions.dropFirst()) {
            #expect(earlier.lexicographicallyPrecedes(later))
        }
    }

    /// Checks the version in the line that adds the package to an app, as in `from: "1.2.3"`.
    @Test func `stands in each document that shows how to add the package`() throws {
        let number = try number()
        var shown: Set<String> = []
        for file in Repository.files where file.path.hasSuffix(".md") {
            // A decision is a record of its day and keeps the version of that day.
            if file.path.hasPrefix("Decisions/") { continue }
            for line in file.lines where line.contains(".package(url:") {
                let versions = line.matches(of: /from: "([^"]*)"/).map { String($0.output.1) }
                #expect(versions == [number], "\(file.path): \(line)")
                shown.insert(file.path)
            }
        }
        #expect(shown.contains("README.md") && shown.count >= 3, "\(shown.sorted())")
    }

    @Test func `is printed by all programs, and sent by the client`() throws {
        #expect(
            try lines("Sources/TidemarkCLI/Command.swift")
                .contains { $0.contains("version: Version.number") })
        #expect(
            try lines("Sources/TidemarkLab/LabCommand.swift")
                .contains { $0.contains("version: Version.number") })
        #expect(
            try lines("Sources/TidemarkLintCLI/LintCommand.swift")
                .contains { $0.contains("version: Linter.version") })
        #expect(
            try lines("Sources/TidemarkWire/Streams/CallMetadata.swift")
                .contains { $0.contains("tidemark/\\(Version.number)") })
        let others = Repository.swift.filter { file in
            file.isCode && !file.isGenerated
                && file.path != "Sources/TidemarkModel/RPC/Version.swift"
        }
        let number = try number()
        for file in others {
            #expect(!file.lines.contains { $0.contains("\"\(number)\"") }, "\(file.path)")
        }
    }
}
