import Testing
import TestSupport

/// Checks that the paths and targets that ARCHITECTURE.md names exist.
struct ArchitectureRules {
    static let maxLines = 200
    /// The maximum number of files in one walk through the code.
    static let longestWalk = 8

    private let files: Set<String>
    private let folders: Set<String>
    private let targets: Set<String>

    init(paths: [String], targets: some Sequence<String>) {
        files = Set(paths)
        self.targets = Set(targets)
        folders = Set(
            paths.flatMap { path in
                let parts = path.split(separator: "/")
                return (1..<max(1, parts.count)).map { parts.prefix($0).joined(separator: "/") }
            })
    }

    private func exists(_ path: String) -> Bool { files.contains(path) || folders.contains(path) }

    /// Returns true if text between two backticks, or a word of a figure, is the path of a missing
    /// file or folder. A path may leave out its first folders. A folder of a target may start at
    /// the target.
    private func isMissing(_ text: String) -> Bool {
        if text.contains(" ") || text.hasPrefix(".") { return false }
        let path = text.hasSuffix("/") ? String(text.dropLast()) : text
        if exists(path) || exists("Sources/" + path) { return false }
        if path.hasSuffix(".swift") { return !files.contains { $0.hasSuffix("/" + path) } }
        guard let first = path.split(separator: "/").first.map(String.init), first != path
        else { return false }
        return folders.contains(first) || targets.contains(first)
    }

    func missingPaths(in file: Repository.File) -> [Violation] {
        var isFigure = false
        return file.lines.enumerated().flatMap { index, line -> [Violation] in
            if line.hasPrefix("```") { isFigure.toggle() }
            let named =
                isFigure
                ? line.split(separator: " ").filter { $0.contains("/") || $0.hasSuffix(".swift") }
                : line.matches(of: #/`([^`]+)`/#).map(\.1)
            return named.map(String.init).filter(isMissing).map {
                Violation(file: file.path, line: index + 1, text: "\($0) is not there")
            }
        }
    }

    /// Checks the table of targets: each target needs a row with a file that the target has.
    func missingEntries(in file: Repository.File) -> [Violation] {
        var found: [Violation] = []
        var listed: [String] = []
        for (index, line) in file.lines.enumerated() {
            guard let row = line.wholeMatch(of: #/\| `(\w+)` \| .+ \| `([^`|]+)` \|/#),
                targets.contains(String(row.1))
            else { continue }
            listed.append(String(row.1))
            if files.contains("Sources/\(row.1)/\(row.2)") { continue }
            let text = "\(row.2) is not in \(row.1)"
            found.append(Violation(file: file.path, line: index + 1, text: text))
        }
        for target in targets.sorted() where listed.count(where: { $0 == target }) != 1 {
            found.append(
                Violation(file: file.path, line: 1, text: "have one row that is of \(target)"))
        }
        return found
    }

    /// Returns the walks: groups of consecutive lines that begin with an arrow. The word after the
    /// arrow is a file.
    static func walks(in file: Repository.File) -> [[String]] {
        var walks: [[String]] = []
        var isOpen = false
        for line in file.lines {
            let words = line.split(separator: " ")
            let isStep = words.first == "↓" && words.count > 1
            if isStep, isOpen {
                walks[walks.count - 1].append(String(words[1]))
            } else if isStep {
                walks.append([String(words[1])])
            }
            isOpen = isStep
        }
        return walks
    }

    /// Checks the lists of the document, not the calls in the code: each walk is short and names no
    /// file twice.
    func badWalks(in file: Repository.File) -> [Violation] {
        Self.walks(in: file).flatMap { walk -> [Violation] in
            var texts = walk.filter { !files.contains($0) }.map { "\($0) is not there" }
            if walk.count > Self.longestWalk { texts.append("\(walk.count) stations in a walk") }
            if Set(walk).count < walk.count {
                texts.append("a walk comes to a file twice: \(walk)")
            }
            return texts.map { Violation(file: file.path, line: 1, text: $0) }
        }
    }
}

@Suite(.ownThread) struct `The architecture` {
    private let rules = ArchitectureRules(
        paths: Repository.files.map(\.path),
        // The examples have their own table, in `Examples/README.md`.
        targets: ImportRules.allowed.keys.filter { $0.hasPrefix("Tidemark") })

    private func file() throws -> Repository.File {
        try #require(Repository.files.first { $0.path == "ARCHITECTURE.md" })
    }

    private func check(_ found: [Violation]) { #expect(found.isEmpty, "\(found.report)") }

    @Test func `is short`() throws {
        check(DecisionRules.tooLong(try file(), lines: ArchitectureRules.maxLines))
        check(DecisionRules.tooWide(try file()))
    }

    @Test func `names files and folders that are there`() throws {
        check(rules.missingPaths(in: try file()))
    }

    @Test func `says for each target what to open first`() throws {
        check(rules.missingEntries(in: try file()))
    }

    @Test func `lists at most eight stations a walk, none twice`() throws {
        #expect(ArchitectureRules.walks(in: try file()).count >= 3)
        check(rules.badWalks(in: try file()))
    }
}

/// Tests the rules on made-up lines.
struct `The rules of the architecture` {
    private let rules = ArchitectureRules(
        paths: ["Sources/TidemarkA/Views/View.swift", "Tests/TidemarkATests/ViewTests.swift"],
        targets: ["TidemarkA"])

    private func file(_ lines: String...) -> Repository.File {
        Repository.File(path: "ARCHITECTURE.md", lines: lines)
    }

    @Test(arguments: [
        "Sources/TidemarkA/Views/View.swift", "TidemarkA/Views", "View.swift",
        "Tests/TidemarkATests/",
        "Views/View.swift", "step(_ event: Event)", "GET /v1/meter", "View", "../shared/specs",
    ])
    func `find what is there`(name: String) {
        #expect(rules.missingPaths(in: file("see `\(name)`")) == [])
    }

    @Test(arguments: [
        "Sources/TidemarkA/View.swift", "TidemarkA/Gone", "Gone.swift", "Tests/Gone",
        "Sources/Gone/",
    ])
    func `miss what is not`(name: String) {
        #expect(rules.missingPaths(in: file("", "see `\(name)`")).map(\.line) == [2])
        #expect(rules.missingPaths(in: file("```", "1 \(name) is it", "```")).map(\.line) == [2])
    }

    @Test func `want a file to open first of each target`() {
        let row = "| `TidemarkA` | views | `Views/View.swift` |"
        #expect(rules.missingEntries(in: file(row)) == [])
        #expect(rules.missingEntries(in: file("")).count == 1)
        #expect(rules.missingEntries(in: file(row, row)).count == 1)
        #expect(rules.missingEntries(in: file("| `TidemarkA` | views | `View.swift` |")).count == 1)
    }

    @Test func `refuse a long walk, and one in a circle`() {
        let step = "  ↓ Sources/TidemarkA/Views/View.swift  shows"
        #expect(rules.badWalks(in: file("a walk", step, "another", step)) == [])
        #expect(rules.badWalks(in: file(step, step)).count == 1)
        #expect(rules.badWalks(in: file("  ↓ Gone.swift  shows")).count == 1)
        let long = (0..<9).map { "  ↓ \($0).swift  shows" }
        let found = rules.badWalks(in: Repository.File(path: "ARCHITECTURE.md", lines: long))
        #expect(found.count == 10, "nine that are not there, and their number")
    }
}
