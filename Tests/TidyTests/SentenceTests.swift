import Foundation
import Testing

/// Sentences for people: each has a key of its own, and the article lists them all for translators.
@Suite struct `Sentences for people` {
    private static let sources = Repository.swift.filter { file in
        file.path.hasPrefix("Sources/") && !file.path.hasPrefix("Sources/TidemarkWords/")
    }
    private static let article = "Sources/Tidemark/Tidemark.docc/Sentences.md"

    private struct Found: Hashable {
        let key: String
        let english: String
    }

    /// `Sentence("key", "text"`, over lines, and where the text is a sum of literals.
    private static func sentences(in text: String) -> [Found] {
        text.matches(
            of: #/Sentence\(\s*"([^"]+)",\s*("(?:[^"\\]|\\.)*"(?:\s*\+\s*"(?:[^"\\]|\\.)*")*)/#
        )
        .map { match in
            let literals = String(match.2).matches(of: #/"((?:[^"\\]|\\.)*)"/#)
            return Found(
                key: String(match.1), english: literals.map { String($0.1) }.joined())
        }
    }

    private static let all = sources.flatMap { sentences(in: $0.lines.joined(separator: "\n")) }

    @Test func `have a key each, of which none is used twice`() {
        #expect(Self.all.count >= 80)
        let keys = Dictionary(grouping: Self.all, by: \.key).filter { $0.value.count > 1 }
        #expect(keys.isEmpty, "used twice: \(keys.keys.sorted())")
        let odd = Self.all.filter { $0.key.wholeMatch(of: #/[a-z]+\.[a-zA-Z]+/#) == nil }
        #expect(odd.isEmpty, "not as in account.addressTaken: \(odd.map(\.key))")
    }

    /// A text for a person that is only a string: after a comment that says so, or in a `message`.
    @Test func `are none without a key`() {
        let files = Self.sources.filter { file in
            ["Tidemark", "TidemarkApp", "TidemarkImages", "TidemarkHealth", "TidemarkHealthSync"]
                .contains(file.target)
        }
        var found: [Violation] = []
        for file in files {
            for (index, line) in file.lines.enumerated() where line.contains("///") {
                let isSpoken =
                    line.contains("sentence for the person")
                    || line.contains(
                        "sentence for a person")
                guard isSpoken, index + 1 < file.lines.count else { continue }
                let next = file.lines[(index + 1)...].first { !$0.contains("///") } ?? ""
                if next.contains("Sentence") { continue }
                found.append(Violation(file: file.path, line: index + 1, text: "it has no key"))
            }
            for (index, line) in file.lines.enumerated() {
                guard line.contains("var message: String {"), !line.contains("localized()") else {
                    continue
                }
                found.append(
                    Violation(file: file.path, line: index + 1, text: "a message without a key"))
            }
        }
        #expect(found.isEmpty, "\(found.report)")
    }

    @Test func `are all in the article`() throws {
        let file = try #require(Repository.files.first { $0.path == Self.article })
        let listed = Set(
            file.lines.compactMap { line -> Found? in
                guard let row = line.wholeMatch(of: #/\| `([^`]+)` \| (.+) \|/#) else { return nil }
                return Found(key: String(row.1), english: String(row.2))
            })
        let wanted = Set(Self.all)
        #expect(wanted.subtracting(listed).isEmpty, "missing: \(wanted.subtracting(listed))")
        #expect(listed.subtracting(wanted).isEmpty, "gone: \(listed.subtracting(wanted))")
    }

    @Test func `are seen as they are written`() {
        let text = """
            Sentence(
                "a.b",
                "It's " + "here.", arguments: [x])
            """
        #expect(Self.sentences(in: text) == [Found(key: "a.b", english: "It's here.")])
    }
}
