import Foundation
import Testing
import TestSupport

/// Checks the sentences for people: each has its own key, and the article lists all of them for
/// translators.
@Suite(.ownThread) struct `Sentences for people` {
    private static let sources = Repository.swift.filter { file in
        file.path.hasPrefix("Sources/") && !file.path.hasPrefix("Sources/TidemarkWords/")
    }
    private static let article = "Sources/Tidemark/Tidemark.docc/Sentences.md"

    private struct Found: Hashable {
        let key: String
        let english: String
    }

    /// Matches `Sentence("key", "text"`, also over several lines, and also if the text is a sum of
    /// literals.
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

    /// Finds a text for a person that is only a string: after a comment that says so, or in a
    /// `message`.
    @Test func `are none without a key`() {
        let files = Self.sources.filter { file in
            [
                "Tidemark", "TidemarkApp", "TidemarkDiagnosis", "TidemarkImages", "TidemarkHealth",
                "TidemarkHealthSync",
            ].contains(file.target)
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

    /// Checks every text in these targets, whatever its type and comment. Each text has a key, or
    /// its call shows that the text is for programmers or a log, or `UnspokenTexts` counts the text
    /// with a reason.
    @Test func `are all texts but those that are counted, with a reason`() {
        let files = Self.sources.filter { UnspokenTexts.targets.contains($0.target ?? "") }
        var allowed: [String: Int] = [:]
        for (_, texts) in UnspokenTexts.counted {
            for (path, count) in texts {
                #expect(allowed[path] == nil, "\(path) is counted twice")
                allowed[path] = count
            }
        }
        var report: [Violation] = []
        for file in files {
            let texts = SpokenTexts.of(file.lines.joined(separator: "\n"))
                .filter { !UnspokenTexts.isUnspoken($0) }
            let expected = allowed.removeValue(
                forKey: String(file.path.dropFirst("Sources/".count)))
            if texts.count == expected ?? 0 { continue }
            let why = "\(texts.count) texts without a key, where \(expected ?? 0) are counted"
            report.append(Violation(file: file.path, line: 1, text: why))
            report += texts.map {
                Violation(file: file.path, line: $0.line, text: String($0.text.prefix(80)))
            }
        }
        #expect(report.isEmpty, "\(report.report)")
        #expect(allowed.isEmpty, "counted, and not there: \(allowed.keys.sorted())")
    }

    @Test func `and other texts are told apart by where they stand`() {
        let source = ##"""
            // "A comment."
            let a = "Try again."
            let words = Words(now: "Now", hours: { "\(f("x"))h ago" }, key: "a.b")
            throw .invalidArgument("A limit of \(n) is none.")
            let b = say(Sentence("a.b", "Nothing " + "is here."))
            context(debugDescription: "no number here")
            let c = isOld ? "SELECT a FROM b" : "<p>is markup</p>", d = "Yesterday"
            precondition(n > 0, "of \(n) words")
            let e = map { "goes to \($0)" }
            let f = #"a \#(g) "quoted" text"#
            """##
        let found = SpokenTexts.of(source).filter { !UnspokenTexts.isUnspoken($0) }
        #expect(found.map(\.line) == [2, 3, 3, 7, 9, 10])
        #expect(
            found.map(\.text) == [
                "Try again.", "Now", "◌h ago", "Yesterday", "goes to ◌", #"a ◌ "quoted" text"#,
            ])
        #expect(found[1].label == "now" && found[1].call == "Words" && found[2].call.isEmpty)
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
