import Foundation
import Testing

@Suite struct `The articles` {
    private let articles = Repository.files.filter { file in
        file.path.hasSuffix(".md")
            && (file.path.contains(".docc/") || file.path.hasPrefix("Documentation/"))
    }
    /// Each line of each test, and the number of the file it stands in.
    private static let tests = Repository.swift.filter { $0.path.hasPrefix("Tests/") && !$0.isTidy }
        .map { $0.lines.map(Self.code) }

    /// Without its indentation and the comment at its end.
    private static func code(_ line: String) -> String {
        let parts = line.components(separatedBy: "  //")
        return parts[0].filter { !$0.isWhitespace }
    }

    private struct Example {
        let article: String
        let line: Int
        let code: [String]
    }

    private func examples(of file: Repository.File) -> [Example] {
        var found: [Example] = []
        var open: (line: Int, code: [String])?
        for (index, line) in file.lines.enumerated() {
            if line.hasPrefix("```swift") {
                open = (index + 2, [])
            } else if line.hasPrefix("```"), let example = open {
                found.append(Example(article: file.path, line: example.line, code: example.code))
                open = nil
            } else {
                open?.code.append(line)
            }
        }
        return found
    }

    /// Whether its lines follow one another in a test, but for what a test has between them.
    private func isRun(_ example: Example) -> Bool {
        let wanted = example.code.map(Self.code).filter { !$0.isEmpty && $0 != "}" }
        return Self.tests.contains { lines in
            var rest = wanted[...]
            for line in lines where line == rest.first { rest.removeFirst() }
            return rest.isEmpty
        }
    }

    @Test func `show code that a test runs`() {
        let all = articles.flatMap(examples)
        #expect(all.count >= 11)
        let found = all.filter { !isRun($0) }.map { example in
            Violation(file: example.article, line: example.line, text: "no test runs this example")
        }
        #expect(found.isEmpty, "\(found.report)")
    }
}
