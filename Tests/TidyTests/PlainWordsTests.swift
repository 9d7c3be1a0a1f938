import Foundation
import Testing

/// Limits the signs of comments that are not plain. The figures are only a sign: a sentence that a
/// reader must read twice is wrong even if it passes.
struct `Comments` {
    /// The folders with Swift files, such as `Sources/TidemarkModel` and `Tests/TidyTests`.
    private static let folders = Set(files.keys).sorted()

    private static let files = Dictionary(
        grouping: Repository.swift.filter { !$0.isGenerated && $0.path.contains("/") }
    ) { $0.path.split(separator: "/").prefix(2).joined(separator: "/") }

    /// The maximum share of comments that open with a fragment.
    private static let maxFragments = 0.05
    /// The maximum number of idioms per 1,000 words.
    private static let maxIdioms = 3.0

    /// A folder with few comments may have one sign of each kind.
    @Test(arguments: folders) func `are plain in every folder`(folder: String) {
        var meter = CommentMeter()
        for file in Self.files[folder] ?? [] { meter.add(file) }
        #expect(
            meter.fragments.count <= 1 || meter.fragmentShare <= Self.maxFragments,
            "\(meter.fragments.count) of \(meter.comments) comments: \(meter.fragments.report)")
        #expect(
            meter.idioms.count <= 1 || meter.idiomsPerThousandWords <= Self.maxIdioms,
            "\(meter.idioms.count) in \(meter.words) words: \(meter.idioms.report)")
        #expect(meter.wide.isEmpty, "over 100 columns: \(meter.wide.report)")
    }

    @Test func `of all folders are read`() {
        #expect(Self.folders.count > 60, "\(Self.folders)")
        #expect(Self.folders.contains("Sources/TidemarkModel"))
        #expect(Self.folders.contains("Tests/TidemarkAppTests"))
    }

    private func meter(_ lines: String...) -> CommentMeter {
        var meter = CommentMeter()
        meter.add(Repository.File(path: "Sources/TidemarkX/X.swift", lines: lines))
        return meter
    }

    @Test(arguments: [
        "/// What the caller wants.", "    // Whether it is open.", "/// (Of the first row.)",
        "/// - Returns: Nil when there is none.", "/// All of them.",
    ])
    func `that open with a fragment are found`(line: String) {
        #expect(meter(line).fragments.map(\.line) == [1])
    }

    @Test(arguments: [
        "/// Returns what the caller wants.", "/// The number of rows.", "/// - Returns: The row.",
        "/// Withdraws an amount.", "// MARK: What a server sends", "let what = \"Of all\"",
        "/// `What` is a word.",
    ])
    func `that are sentences pass`(line: String) {
        #expect(meter(line).fragments.isEmpty)
    }

    @Test func `are counted by blocks, and by the first line of each`() {
        let found = meter(
            "/// Opens the file.", "/// What fails is thrown.", "func open() {",
            "    // Nobody waits.",
            "    wait()", "    // As above.", "}")
        #expect(found.comments == 3)
        #expect(found.fragments.map(\.line) == [6])
        #expect(found.words == 11)
    }

    @Test func `have idioms counted over lines, and none in code`() {
        let found = meter(
            "/// A listener is", "/// told at once, and `goes on` alone.", "///", "/// ```",
            "/// Nobody sees this.", "/// ```", "///     nobody sees this", "let goes = 1",
            "// Somebody's")
        #expect(found.idioms.map(\.text) == ["is told", "at once", "Somebody"])
        #expect(found.idiomsPerThousandWords > 100)
    }

    @Test func `over 100 columns are found`() {
        let long = String(repeating: "a", count: 97)
        #expect(meter("/// " + long).wide.count == 1)
        #expect(meter("// " + long, "let text = \"" + long + "\"").wide.isEmpty)
    }
}

/// Counts the comments of files, and the signs of comments that are not plain.
struct CommentMeter {
    private(set) var comments = 0
    private(set) var words = 0
    /// Comments whose first word opens a clause without a subject.
    private(set) var fragments: [Violation] = []
    /// Coined or old-fashioned turns, each occurrence.
    private(set) var idioms: [Violation] = []
    /// Comment lines over 100 columns.
    private(set) var wide: [Violation] = []

    var fragmentShare: Double { Double(fragments.count) / Double(max(1, comments)) }
    var idiomsPerThousandWords: Double { 1_000 * Double(idioms.count) / Double(max(1, words)) }

    private static let maxColumns = 100

    private static let openers: Set<String> = [
        "What", "Whether", "How", "As", "Of", "Those", "One", "Nil", "Where", "By", "For", "All",
        "Who", "Whom", "Whose", "With", "Without", "Nothing", "Which", "Each", "None",
    ]

    private static let idiom: NSRegularExpression = {
        let all = [
            "is told", "are told", "was told", "be told", "told of", "told apart", "hears",
            "hear of", "heard of", "goes on", "go on", "goes", "lets go", "let go", "nobody",
            "somebody", "of its own", "of their own", "any more", "is gone", "are gone", "stands",
            "comes from", "came of", "by itself", "at once", "one that", "those that", "what is",
            "held back", "may be", "a person", "the person", "meanwhile", "by turns", "so that",
            "in the place of", "from beside", "wished for", "no word", "is of", "are of",
            "in hand",
        ]
        let longestFirst = all.sorted { $0.count > $1.count }.joined(separator: "|")
        return try! NSRegularExpression(
            pattern: #"\b("# + longestFirst + #")\b"#, options: .caseInsensitive)
    }()

    mutating func add(_ file: Repository.File) {
        var block: [String] = []
        var start = 0
        for (index, line) in file.lines.enumerated() {
            let text = Self.comment(line)
            // An address cannot be broken.
            if let text, line.count > Self.maxColumns, !text.contains("https://") {
                wide.append(Violation(file: file.path, line: index + 1, text: "too wide"))
            }
            if let text, !Self.isDirective(text) {
                if block.isEmpty { start = index + 1 }
                block.append(text)
            } else {
                add(block, file.path, start)
                block = []
            }
        }
        add(block, file.path, start)
    }

    private mutating func add(_ block: [String], _ path: String, _ line: Int) {
        let text = Self.prose(block)
        if text.isEmpty { return }
        comments += 1
        words += text.split(separator: " ").count
        let first = text.drop { "\"'(".contains($0) }.prefix { $0.isASCII && $0.isLetter }
        if Self.openers.contains(String(first)) {
            fragments.append(Violation(file: path, line: line, text: String(text.prefix(80))))
        }
        let whole = NSRange(text.startIndex..., in: text)
        for match in Self.idiom.matches(in: text, range: whole) {
            guard let range = Range(match.range, in: text) else { continue }
            idioms.append(Violation(file: path, line: line, text: String(text[range])))
        }
    }

    /// Returns the text of a line that is a comment, without the slashes and one space.
    private static func comment(_ line: String) -> String? {
        let trimmed = line.drop { $0 == " " }
        guard trimmed.hasPrefix("//") else { return nil }
        let text = trimmed.drop { $0 == "/" }
        return String(text.first == " " ? text.dropFirst() : text)
    }

    private static func isDirective(_ text: String) -> Bool {
        ["MARK", "swift-format", "TODO", "==="].contains { text.hasPrefix($0) }
    }

    /// Returns the sentences of a block on one line: without code, and without the names of fields
    /// such as `- Returns:`.
    private static func prose(_ block: [String]) -> String {
        var lines: [String] = []
        var isCode = false
        for line in block {
            let words = line.drop { $0 == " " }
            if words.hasPrefix("```") {
                isCode.toggle()
            } else if !isCode, !line.hasPrefix("    ") {
                // Most lines have no field, and the search for it takes long.
                let field =
                    #/^\s*- (?:Parameters?|Returns|Throws|Note|Important|Warning)(?: \w+)?:/#
                lines.append(words.hasPrefix("- ") ? line.replacing(field, with: "") : line)
            }
        }
        let text = lines.joined(separator: " ")
        return (text.contains("`") ? text.replacing(#/`[^`]*`/#, with: "X") : text)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
