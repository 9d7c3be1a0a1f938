import Foundation
import Testing
import TestSupport

/// The links of Markdown files to other files of the repository.
enum Links {
    /// Returns each link whose target does not exist or lacks the heading that the link names.
    static func broken(
        in file: Repository.File, exists: (String) -> Bool, headings: (String) -> Set<String>
    ) -> [Violation] {
        var isCode = false
        return file.lines.enumerated().flatMap { index, line -> [Violation] in
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode else { return [] }
            return line.matches(of: /\]\(([^)\s]+)\)/).compactMap { match in
                let link = String(match.output.1)
                guard !link.contains("://"), !link.hasPrefix("mailto:") else { return nil }
                let parts = link.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target = parts[0].isEmpty ? file.path : path(String(parts[0]), from: file.path)
                let found =
                    exists(target)
                    && (parts.count == 1 || headings(target).contains(String(parts[1])))
                return found
                    ? nil
                    : Violation(file: file.path, line: index + 1, text: "leads nowhere: \(link)")
            }
        }
    }

    /// Returns the heading as a link writes it: lowercase, with hyphens between words and without
    /// punctuation.
    static func anchor(_ heading: String) -> String {
        let text = heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
        return String(
            text.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                .map { $0 == " " ? "-" : $0 })
    }

    private static func path(_ link: String, from file: String) -> String {
        var folders = file.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { _ = folders.popLast() } else { folders.append(String(part)) }
        }
        return folders.joined(separator: "/")
    }
}

@Suite(.ownThread) struct `Documents` {
    /// Templates are excluded: the document that contains their text is checked.
    private let documents = Repository.files.filter { file in
        file.path.hasSuffix(".md") && !file.path.hasPrefix("Benchmarks/Results/Tables/")
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path)
    }

    private func headings(_ path: String) -> Set<String> {
        let lines = documents.first { $0.path == path }?.lines ?? []
        return Set(lines.filter { $0.hasPrefix("#") }.map(Links.anchor))
    }

    @Test func `link to what is there`() {
        #expect(documents.count > 20)
        let found = documents.flatMap {
            Links.broken(in: $0, exists: exists, headings: headings)
        }
        #expect(found.isEmpty, "\(found.report)")
    }

    @Test func `the README fits on a few screens`() throws {
        let readme = try #require(documents.first { $0.path == "README.md" })
        #expect(readme.lines.count <= 111, "110 lines and the end of the last")
    }

    @Test func `a link that leads nowhere is found`() {
        let file = Repository.File(
            path: "Documentation/A.md",
            lines: [
                "[b](B.md) and [up](../README.md#what-it-costs)", "[gone](C.md)",
                "[none](B.md#no-heading)", "[web](https://example.com)", "```", "[code](D.md)",
                "```",
            ])
        let found = Links.broken(
            in: file, exists: { ["Documentation/B.md", "README.md"].contains($0) },
            headings: { $0 == "README.md" ? [Links.anchor("## What it costs")] : [] })
        #expect(found.map(\.line) == [2, 3])
    }
}
