import Testing
import TestSupport

/// Compares the texts that users read on a screen with the list of these texts for review.
@Suite(.ownThread) struct `The visible texts` {
    private static let list = "Documentation/VisibleTexts.txt"
    private static let script = "Scripts/visible-texts"

    /// Calls whose texts no user reads: a programmer's mistake, or SQL.
    private static let unseen: Set = [
        "precondition", "preconditionFailure", "fatalError", "assert", "assertionFailure",
        "unreachable", "RawStatement", "StoreMigration",
    ]

    /// Returns the text on one line. A backslash at the end of a line continues that line.
    private static func shown(_ text: String) -> String {
        text.replacing("\\\n", with: " ").split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
    }

    /// Returns the targets that the script reads, by its own text.
    private static func targets() throws -> [String] {
        let file = try #require(Repository.files.first { $0.path == script })
        let start = try #require(file.lines.firstIndex(of: "TARGETS = ["))
        let lines = file.lines[(start + 1)...].prefix { $0 != "]" }
        return lines.joined().matches(of: /"(\w+)"/).map { String($0.output.1) }
    }

    @Test func `are in their list, and nothing else is`() throws {
        let listed = try #require(Repository.files.first { $0.path == Self.list })
        let targets = try Self.targets()
        #expect(targets.count > 20 && targets.contains("TidemarkCLI"))
        var wanted: [String] = []
        for target in targets {
            let files = Repository.swift.filter {
                $0.target == target && $0.path.hasPrefix("Sources/") && !$0.isGenerated
            }
            for file in files {
                let texts = SpokenTexts.of(file.lines.joined(separator: "\n"))
                    .filter { $0.readsAsText && !Self.unseen.contains($0.call) }
                if texts.isEmpty { continue }
                wanted.append(String(file.path.dropFirst("Sources/".count)))
                wanted += texts.map { "    " + Self.shown($0.text) }
            }
        }
        #expect(wanted.count > 2_000)
        let found = listed.lines.dropFirst(2).filter { !$0.isEmpty }
        let difference = wanted.difference(from: found)
        let report = difference.prefix(20).map { change in
            switch change {
            case .insert(_, let line, _): "missing: \(line)"
            case .remove(_, let line, _): "superfluous: \(line)"
            }
        }
        let advice: Comment = """
            Run \(Self.script), review the changes in \(Self.list), and commit the file:
            \(report.joined(separator: "\n"))
            """
        #expect(difference.isEmpty, advice)
    }

    @Test func `of several lines are shown on one`() {
        let source = ##"""
            let a = """
                A text of \
                two lines.
                """
            precondition(n > 0, "not for people")
            let b = "SELECT a FROM b", c = "key", d = "One \(n) two"
            """##
        let texts = SpokenTexts.of(source)
            .filter { $0.readsAsText && !Self.unseen.contains($0.call) }
        #expect(texts.map { Self.shown($0.text) } == ["A text of two lines.", "One ◌ two"])
    }
}
