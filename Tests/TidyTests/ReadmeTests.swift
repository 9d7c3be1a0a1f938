import Foundation
import Testing

struct `The README` {
    /// Returns the lines of Swift without comments, indentation and empty lines.
    private func code(_ lines: some Sequence<String>) -> [String] {
        lines.map { line in
            let code = line.components(separatedBy: "//").first ?? ""
            return code.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }
    }

    /// Returns the lines between two marks, for each occurrence of the marks.
    private func blocks(of file: String, from start: String, to end: String) throws -> [[String]] {
        let lines = try #require(Repository.files.first { $0.path == file }).lines
        var blocks: [[String]] = []
        var open: [String]?
        for line in lines {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text == start {
                open = []
            } else if text == end, let block = open {
                blocks.append(block)
                open = nil
            } else {
                open?.append(line)
            }
        }
        return blocks
    }

    @Test func `shows code that a test runs`() throws {
        let shown = try blocks(of: "README.md", from: "```swift", to: "```")
        let run = try blocks(
            of: "Tests/TidemarkAppTests/ReadmeTests.swift", from: "// README begins",
            to: "// README ends")
        #expect(shown.count == run.count)
        // Only an app has these lines: imports, its own folder, the end of a loop.
        let apart = ["import", "let settings", "let firestore", "}"]
        for (shown, run) in zip(shown, run) {
            let expected = code(shown).filter { line in
                !apart.contains { line == $0 || line.hasPrefix($0 + " ") }
            }
            #expect(expected == code(run).filter { $0 != "}" })
        }
    }
}
