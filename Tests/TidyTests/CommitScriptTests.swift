import Foundation
import Testing
import TestSupport

/// Runs `Scripts/commits` on correct and incorrect messages.
@Suite(.ownThread) struct `The check of commit messages` {
    /// Returns the script's output and exit code for a message.
    private func check(_ message: String) throws -> (text: String, status: Int32) {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "message-\(UUID().uuidString)")
        try message.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = Repository.root.appending(path: "Scripts/commits")
        process.arguments = ["--file", file.path]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }

    /// Returns the examples of CONTRIBUTING.md.
    private func examples() throws -> [String] {
        let file = try #require(Repository.files.first { $0.path == "CONTRIBUTING.md" })
        let start = try #require(file.lines.firstIndex(of: "## Commit messages"))
        let end = try #require(file.lines.firstIndex(of: "## Versions"))
        let blocks = file.lines[start..<end].joined(separator: "\n").components(separatedBy: "```")
        return blocks.enumerated().filter { !$0.offset.isMultiple(of: 2) }
            .map { $0.element.trimmingCharacters(in: .newlines) }
    }

    @Test func `passes the examples of CONTRIBUTING`() throws {
        let examples = try examples()
        #expect(examples.count == 2)
        for example in examples {
            let found = try check(example)
            #expect(found.status == 0, "\(found.text)")
        }
    }

    private static let body = "\n\nRows were read twice. They are read once now.\n"

    @Test(arguments: [
        ("", "is empty"),
        ("The list of rows is read once" + body, "imperative"),
        ("Fixed the list" + body, "imperative"), ("Fixes the list" + body, "imperative"),
        ("Fix the list." + body, "period"), ("fix the list" + body, "capital letter"),
        ("Fix " + String(repeating: "a", count: 69) + body, "73 characters"),
        ("Fix the list", "two sentences"), ("Fix the list\n\nIt was wrong.", "two sentences"),
        ("Fix the list\nRows were read twice." + body, "second line"),
        ("Fix the list\n\nA. B. " + String(repeating: "a ", count: 60), "Line 3"),
    ])
    func `refuses what it forbids`(message: String, fault: String) throws {
        let found = try check(message)
        #expect(found.status == 1 && found.text.contains(fault), "\(found.text)")
    }

    @Test(arguments: ["Merge branch 'main'", "Revert \"Fix the list\"", "Address it" + body])
    func `passes what it need not check`(message: String) throws {
        #expect(try check(message).status == 0)
    }
}
