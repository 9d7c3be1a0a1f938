import Foundation
import Testing
import TestSupport

@Suite(.ownThread) struct `The articles` {
    private let articles = Repository.files.filter { file in
        file.path.hasSuffix(".md")
            && (file.path.contains(".docc/") || file.path.hasPrefix("Documentation/"))
            // The examples there have faults; `TidemarkLintTests` lints each.
            && !file.path.hasPrefix("Documentation/Lint/")
    }
    /// The code lines of each test file.
    private static let tests = Repository.swift.filter { file in
        (file.path.hasPrefix("Tests/") && !file.isTidy)
            // These tests run code that needs SwiftUI, on a stub of SwiftUI.
            || file.path.hasPrefix("Tools/AppleCheck/Tests/")
    }
    .map { $0.lines.map(Self.code) }

    /// Returns the line without spaces and comments.
    private static func code(_ line: String) -> String {
        let parts = line.components(separatedBy: "  //")
        let code = parts[0].filter { !$0.isWhitespace }
        return code.hasPrefix("//") ? "" : code
    }

    private struct Example {
        let article: String
        let line: Int
        let code: [String]
    }

    /// Returns the Swift code blocks among the lines.
    private static func examples(
        of path: String, _ lines: [(number: Int, text: String)]
    ) -> [Example] {
        var found: [Example] = []
        var open: (line: Int, code: [String])?
        for (number, line) in lines {
            if line.hasPrefix("```swift") {
                open = (number + 1, [])
            } else if line.hasPrefix("```"), let example = open {
                found.append(Example(article: path, line: example.line, code: example.code))
                open = nil
            } else {
                open?.code.append(line)
            }
        }
        return found
    }

    private func examples(of file: Repository.File) -> [Example] {
        Self.examples(of: file.path, file.lines.enumerated().map { ($0.offset + 1, $0.element) })
    }

    /// Returns the examples in the doc comments of a source file.
    private static func comments(of file: Repository.File) -> [Example] {
        let lines = file.lines.enumerated().compactMap { index, line -> (Int, String)? in
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("///") else { return nil }
            return (index + 1, String(text.dropFirst(text.hasPrefix("/// ") ? 4 : 3)))
        }
        return examples(of: file.path, lines)
    }

    /// True if the example's lines occur in a test in the same order. The test may have other lines
    /// between them.
    private func isRun(_ example: Example) -> Bool { isRun(example, in: Self.tests) }

    private func isRun(_ example: Example, in files: [[String]]) -> Bool {
        let wanted = example.code.map(Self.code).filter { !$0.isEmpty && $0 != "}" }
        return files.contains { lines in
            var rest = wanted[...]
            for line in lines where line == rest.first { rest.removeFirst() }
            return rest.isEmpty
        }
    }

    private func check(_ examples: [Example]) {
        let found = examples.filter { !isRun($0) }.map { example in
            Violation(file: example.article, line: example.line, text: "no test runs this example")
        }
        #expect(found.isEmpty, "\(found.report)")
    }

    @Test func `show code that a test runs`() {
        let all = articles.flatMap(examples)
        #expect(all.count >= 35, "only \(all.count) examples were found")
        check(all)
    }

    /// The tests run the code on doubles of UIKit; the controllers compile on a stub of UIKit.
    @Test func `and the code for UIKit stands in the view controllers of an example too`() throws {
        let controllers = Repository.swift.filter { $0.path.hasPrefix("Examples/Homes/UIKit/") }
            .map { $0.lines.map(Self.code) }
        let article = try #require(articles.first { $0.path.hasSuffix(".docc/UIKitScreens.md") })
        let all = examples(of: article)
        #expect(all.count >= 7, "only \(all.count) examples were found")
        for example in all {
            #expect(isRun(example, in: controllers), "line \(example.line) of \(article.path)")
        }
    }

    /// Checks only the modules that an app imports.
    @Test func `and the doc comments show code that a test runs`() {
        let sources = Repository.swift.filter { file in
            file.path.hasPrefix("Sources/")
                && Catalogues.modules.contains { file.path.hasPrefix("Sources/\($0)/") }
        }
        let all = sources.flatMap(Self.comments)
        #expect(all.count >= 15, "only \(all.count) examples were found")
        check(all)
    }

    /// Checks the old code and the new code of each example app. The example's tests run this code,
    /// and the show plays it.
    @Test func `and the examples' walkthroughs show code of their apps`() {
        let readmes = Repository.files.filter {
            $0.path.hasPrefix("Examples/") && $0.path.hasSuffix("/README.md")
        }
        #expect(readmes.count == 6, "\(readmes.map(\.path))")
        for readme in readmes where readme.path != "Examples/README.md" {
            let folder = readme.path.dropLast("README.md".count)
            let app = Repository.swift.filter { $0.path.hasPrefix(folder) }
                .map { $0.lines.map(Self.code) }
            let all = examples(of: readme)
            #expect(all.count >= 3, "\(readme.path) shows \(all.count) pieces of code")
            let found = all.filter { !isRun($0, in: app + Self.tests) }.map {
                Violation(file: $0.article, line: $0.line, text: "the app has no such lines")
            }
            #expect(found.isEmpty, "\(found.report)")
        }
    }

    @Test func `of a doc comment are found`() {
        let file = Repository.File(
            path: "Sources/TidemarkA/A.swift",
            lines: [
                "/// Makes an a.", "///", "/// ```swift", "/// let a = A()", "///", "/// a.run()",
                "/// ```", "struct A {}", "    /// ```", "    /// not Swift", "    /// ```",
            ])
        let found = Self.comments(of: file)
        #expect(found.map(\.line) == [4] && found[0].code == ["let a = A()", "", "a.run()"])
        #expect(!isRun(found[0]), "no test has these lines")
    }
}
