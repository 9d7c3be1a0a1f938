import Testing
import TestSupport

/// `Documentation/Guide` holds the DocC articles without DocC's links and with the name of their
/// module, for code hosts.
@Suite(.ownThread) struct `The guide` {
    private static let articles = Repository.files.filter { file in
        file.path.hasPrefix("Sources/") && file.path.contains(".docc/")
            && file.path.hasSuffix(".md")
    }
    private static let pages = Repository.files.filter { $0.path.hasPrefix("Documentation/Guide/") }
    private static let advice = "Run Scripts/guide and commit Documentation/Guide."

    /// Returns the words of a line without links and code marks, so that an article and its page
    /// compare equal.
    private static func words(_ line: String) -> String {
        line.replacing(/\[[^\]]*\]\((\w+)\.md\)/) { "<doc:\($0.output.1)>" }
            .replacing(/<doc:[^>]*?(\w+)>/) { "<doc:\($0.output.1)>" }
            // Only articles have the suffix that identifies an overload.
            .replacing(/-[a-z0-9.]+``/, with: "``")
            .filter { $0 != "`" && $0 != "/" && $0 != "." }
    }

    @Test func `has a page for each article, with its words`() {
        #expect(Self.articles.count > 40)
        #expect(
            Set(Self.articles.map(\.name)) == Set(Self.pages.map(\.name)),
            "\(Self.advice)")
        for article in Self.articles {
            guard let page = Self.pages.first(where: { $0.name == article.name }) else { continue }
            #expect(page.lines.first?.contains(article.path) == true, "\(page.path)")
            var lines = Array(page.lines.dropFirst())
            let module = Catalogues.module(of: article) ?? ""
            if article.name != module + ".md" {
                // An empty line and the module, which DocC shows elsewhere.
                let name = lines.count > 2 ? lines[2] : ""
                #expect(name.hasPrefix("*A page of the module `\(module)`"), "\(page.path)")
                lines.removeSubrange(1..<min(3, lines.count))
            }
            let isSame = article.lines.map(Self.words) == lines.map(Self.words)
            #expect(isSame, "\(page.path) differs from \(article.path). \(Self.advice)")
        }
    }

    @Test func `has no link that only DocC shows`() {
        for page in Self.pages {
            #expect(!page.lines.contains { $0.contains("<doc:") }, "\(page.path)")
        }
        let readme = Repository.files.first { $0.path == "README.md" }
        #expect(readme?.lines.contains { $0.contains(".docc/") } == false)
    }
}
