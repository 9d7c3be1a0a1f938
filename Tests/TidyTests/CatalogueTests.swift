import Foundation
import Testing
import TestSupport

/// The DocC catalogues: `Sources/MODULE/MODULE.docc`, one for each library that an app can import.
enum Catalogues {
    /// Returns `Tidemark` for `Sources/Tidemark/Tidemark.docc/Pages.md`, and nil for any other
    /// file.
    static func module(of file: Repository.File) -> String? {
        file.path.wholeMatch(of: #/Sources/(\w+)/\1\.docc/[^/]+\.md/#).map { String($0.1) }
    }

    static let modules = Set(Repository.files.compactMap(module))

    /// The modules of the library products in a manifest.
    static func libraries(in manifest: Repository.File) -> Set<String> {
        let lists = manifest.lines.compactMap { line in
            line.firstMatch(of: #/\.library\(name: "\w+", targets: \[(.+)\]/#)?.1
        }
        return Set(lists.flatMap { $0.matches(of: #/\w+/#).map { String($0.0) } })
    }

    /// Returns the faults of a page. A page needs a title, one sentence that states its purpose,
    /// and links as `<doc:Page>`. On the site, a link with a path to a Markdown file is broken.
    static func violations(in file: Repository.File) -> [Violation] {
        var found: [Violation] = []
        func refuse(_ line: Int, _ text: String) {
            found.append(Violation(file: file.path, line: line, text: text))
        }
        let module = module(of: file) ?? ""
        let isLanding = file.name == module + ".md"
        if isLanding, file.lines.first != "# ``\(module)``" { refuse(1, "begin with the module") }
        if !isLanding, file.lines.first?.hasPrefix("# ") != true { refuse(1, "begin with a title") }
        let first = file.lines.dropFirst().drop { $0.isEmpty }.prefix { !$0.isEmpty }
        if first.count != 1 || first.first?.hasSuffix(".") != true || first.first?.first == "#" {
            refuse(3, "say in one line, a sentence, what the page is for")
        }
        for (index, line) in file.lines.enumerated()
        where line.contains(#/\]\([^)]*\.md[)#]/#) {
            refuse(index + 1, "link to a page as <doc:Page>")
        }
        for line in headlessTables(in: file.lines) {
            refuse(line, "put a line such as |---|---| below the first line of a table")
        }
        return found
    }

    /// Returns the numbers of the lines with which a table begins that has no line of dashes below
    /// its first line, with as many cells. Such a table is shown as text.
    private static func headlessTables(in lines: [String]) -> [Int] {
        var isCode = false
        var found: [Int] = []
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") { isCode.toggle() }
            let isFirst = index == 0 || !lines[index - 1].hasPrefix("|")
            guard !isCode, isFirst, line.hasPrefix("|") else { continue }
            let next = index + 1 < lines.count ? lines[index + 1] : ""
            let isHead = next.wholeMatch(of: #/\|(?:\s*:?-+:?\s*\|)+/#) != nil
            if !isHead || cells(line) != cells(next) { found.append(index + 1) }
        }
        return found
    }

    /// Returns the number of cells in a line of a table. A bar in code or after a backslash ends no
    /// cell.
    private static func cells(_ line: String) -> Int {
        line.replacing(#/`[^`]*`/#, with: "").replacing("\\|", with: "").count { $0 == "|" }
    }
}

@Suite(.ownThread) struct `The catalogues` {
    private let pages = Repository.files.filter { Catalogues.module(of: $0) != nil }

    @Test func `are there for every library`() throws {
        let manifest = try #require(Repository.files.first { $0.path == "Package.swift" })
        let libraries = Catalogues.libraries(in: manifest)
        #expect(libraries.count >= 7)
        let landing = Set(
            pages.filter { $0.name == (Catalogues.module(of: $0) ?? "") + ".md" }
                .compactMap(Catalogues.module))
        #expect(libraries.subtracting(landing) == [], "a library has no landing page")
        #expect(Catalogues.modules.subtracting(libraries) == [], "no library has this catalogue")
    }

    @Test func `have pages of one form`() {
        #expect(pages.count > 20)
        let found = pages.flatMap(Catalogues.violations)
        #expect(found.isEmpty, "\(found.report)")
    }
}

/// Tests the rules on made-up pages.
struct `The rules of catalogues` {
    private func count(_ name: String, _ lines: String...) -> Int {
        let path = "Sources/TidemarkA/TidemarkA.docc/\(name).md"
        return Catalogues.violations(in: Repository.File(path: path, lines: lines)).count
    }

    @Test func `accept a good page`() {
        #expect(count("Pages", "# Pages", "", "Show a list in pages.", "", "## Overview") == 0)
        #expect(count("TidemarkA", "# ``TidemarkA``", "", "A client.", "") == 0)
    }

    @Test func `want a head for each table`() {
        let start = ["# Pages", "", "Show a list in pages.", ""]
        func count(_ table: String...) -> Int {
            let path = "Sources/TidemarkA/TidemarkA.docc/Pages.md"
            let file = Repository.File(path: path, lines: start + table + [""])
            return Catalogues.violations(in: file).count
        }
        #expect(count("| part | cost |", "|---|---|", "| a | b |") == 0)
        #expect(count("| `a | b` | cost |", "|---|:--|", "| a | b |") == 0)
        #expect(count("```", "| part |", "```") == 0)
        #expect(count("| part | price |", "| part | cost |", "| a | b |") == 1)
        #expect(count("| part | cost |", "|---|", "| a | b |") == 1)
    }

    @Test func `refuse another form`() {
        #expect(count("TidemarkA", "# TidemarkA", "", "A client.", "") == 1)
        #expect(count("Pages", "", "Show a list in pages.", "") == 1, "no title")
        #expect(count("Pages", "# Pages", "", "## Overview", "", "Text.") == 1, "no summary")
        #expect(count("Pages", "# Pages", "", "Two lines", "of it.", "") == 1)
        let link = "See [feeds](Feeds.md)."
        #expect(count("Pages", "# Pages", "", "Show pages.", "", link) == 1)
        #expect(count("Pages", "# Pages", "", "Show pages.", "", "See <doc:Feeds>.") == 0)
    }

    @Test func `find libraries and modules`() {
        let manifest = Repository.File(
            path: "Package.swift",
            lines: [
                #"        .library(name: "TidemarkA", targets: ["TidemarkA", "TidemarkC"]),"#,
                #"        .executable(name: "tidemark", targets: ["TidemarkCLI"]),"#,
            ])
        #expect(Catalogues.libraries(in: manifest) == ["TidemarkA", "TidemarkC"])
        let other = Repository.File(path: "Sources/TidemarkA/TidemarkB.docc/B.md", lines: [])
        #expect(Catalogues.module(of: other) == nil)
    }
}
