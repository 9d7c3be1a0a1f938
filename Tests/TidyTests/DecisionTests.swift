import Foundation
import Testing

/// Checks the form of a record in `Decisions/`, which `Decisions/README.md` describes.
enum DecisionRules {
    static let maxLines = 60
    static let maxColumns = 150
    private static let headings = ["## Context", "## Choice", "## Consequences"]

    /// Returns `0007` for `Decisions/0007-title.md`, and nil for any other file.
    static func number(of file: Repository.File) -> String? {
        file.path.wholeMatch(of: #/Decisions/([0-9]{4})-[a-z0-9-]+\.md/#).map { String($0.1) }
    }

    static func title(of file: Repository.File) -> String? {
        guard let line = file.lines.first, let match = line.wholeMatch(of: #/# [0-9]{4}: (.+)/#)
        else { return nil }
        return String(match.1)
    }

    /// Returns a status such as `accepted` or `amended by 0021`, or nil if the line has another
    /// form.
    static func status(of file: Repository.File) -> String? {
        guard file.lines.count > 2 else { return nil }
        let form =
            #/Date: [0-9]{4}-[0-9]{2}-[0-9]{2} · Status: (accepted|(amended|superseded) by [0-9]{4})/#
        return file.lines[2].wholeMatch(of: form).map { String($0.1) }
    }

    /// - Parameter numbers: The numbers of all records.
    static func violations(in file: Repository.File, numbers: Set<String>) -> [Violation] {
        guard let number = number(of: file) else {
            return [Violation(file: file.path, line: 1, text: "name it NNNN-title.md")]
        }
        var found = length(of: file)
        func refuse(_ line: Int, _ text: String) {
            found.append(Violation(file: file.path, line: line, text: text))
        }
        if title(of: file) == nil || file.lines.first?.hasPrefix("# \(number): ") != true {
            refuse(1, "begin with \"# \(number): Title\"")
        }
        if let status = status(of: file) {
            let later = String(status.suffix(4))
            if status != "accepted", later == number || !numbers.contains(later) {
                refuse(3, "\(later) is no other record")
            }
        } else {
            refuse(
                3, "write \"Date: YYYY-MM-DD · Status: accepted\", or amended or superseded by NNNN"
            )
        }
        if file.lines.filter({ $0.hasPrefix("## ") }) != headings {
            refuse(1, "have these headings, in this order: \(headings)")
        }
        for (index, line) in file.lines.enumerated() where line.hasPrefix("## ") {
            let text = file.lines[(index + 1)...].first { !$0.isEmpty }
            if text?.hasPrefix("## ") ?? true { refuse(index + 1, "say something below \(line)") }
        }
        return found
    }

    private static func length(of file: Repository.File) -> [Violation] {
        tooLong(file, lines: maxLines) + tooWide(file)
    }

    static func tooLong(_ file: Repository.File, lines limit: Int) -> [Violation] {
        let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
        if count <= limit { return [] }
        return [Violation(file: file.path, line: limit, text: "\(count) lines; \(limit) will do")]
    }

    /// Finds lines that are too long. Rows of tables are exempt, because they cannot be broken.
    static func tooWide(_ file: Repository.File) -> [Violation] {
        file.lines.enumerated().compactMap { index, line in
            if line.hasPrefix("|") || line.count <= maxColumns { return nil }
            return Violation(
                file: file.path, line: index + 1, text: "break it at \(maxColumns) columns")
        }
    }

    /// Finds references, such as `Decisions/0007`, to records that do not exist.
    static func danglingMentions(
        in file: Repository.File, numbers: Set<String>
    ) -> [Violation] {
        // Most files contain no reference: one search of the whole text is faster than a search of
        // each line.
        let text = file.lines.joined(separator: "\n")
        if text.components(separatedBy: "Decisions/").count == 1 { return [] }
        var found: [Violation] = []
        for (index, line) in file.lines.enumerated() {
            for rest in line.components(separatedBy: "Decisions/").dropFirst() {
                let number = String(rest.prefix(4))
                guard number.count == 4, number.allSatisfy(\.isNumber), !numbers.contains(number)
                else { continue }
                let text = "no record \(number)"
                found.append(Violation(file: file.path, line: index + 1, text: text))
            }
        }
        return found
    }

    /// Checks that the index has one row for each record, with its title and status, and no other
    /// row.
    static func indexViolations(
        in index: Repository.File, of records: [Repository.File]
    ) -> [Violation] {
        let rows = index.lines.filter { $0.hasPrefix("| [") }
        let wanted = records.map { file in
            let number = number(of: file) ?? "", title = title(of: file) ?? ""
            return "| [\(number)](\(file.name)) | \(title) | \(status(of: file) ?? "") | "
        }
        let missing = wanted.filter { start in rows.count { $0.hasPrefix(start) } != 1 }
            .map { "have one row that begins with: \($0)" }
        let strange = rows.filter { row in !wanted.contains { row.hasPrefix($0) } }
            .map { "no record is as this row says: \($0)" }
        return (missing + strange).map { Violation(file: index.path, line: 1, text: $0) }
    }
}

struct `The decisions` {
    private let records: [Repository.File]
    private let numbers: Set<String>

    init() {
        records = Repository.files.filter { file in
            file.path.hasPrefix("Decisions/") && file.name != "README.md"
        }
        numbers = Set(records.compactMap(DecisionRules.number))
    }

    @Test func `have one form`() {
        #expect(records.count > 20 && numbers.count == records.count, "each has its own number")
        let found = records.flatMap { DecisionRules.violations(in: $0, numbers: numbers) }
        #expect(found.isEmpty, "\(found.report)")
    }

    @Test func `are in the index, each once`() throws {
        let index = try #require(Repository.files.first { $0.path == "Decisions/README.md" })
        let found = DecisionRules.indexViolations(in: index, of: records)
        #expect(found.isEmpty, "\(found.report)")
    }

    @Test func `are there wherever one is named`() {
        let found = Repository.files.filter { !$0.isTidy }
            .flatMap { DecisionRules.danglingMentions(in: $0, numbers: numbers) }
        #expect(found.isEmpty, "\(found.report)")
    }
}

/// Tests the rules on records that follow them and records that break them.
struct `The rules of decisions` {
    private func record(
        _ title: String = "# 0007: A choice",
        _ status: String = "Date: 2026-11-21 · Status: amended by 0009",
        _ headings: [String] = ["## Context", "## Choice", "## Consequences"],
        text: String = "Because."
    ) -> Repository.File {
        let sections = headings.flatMap { ["", $0, "", text] }
        return Repository.File(
            path: "Decisions/0007-a-choice.md", lines: [title, "", status] + sections + [""])
    }

    private func count(_ file: Repository.File) -> Int {
        DecisionRules.violations(in: file, numbers: ["0007", "0009"]).count
    }

    @Test func `accept a good record`() { #expect(count(record()) == 0) }

    @Test func `refuse another form`() {
        #expect(count(record("# 0008: A choice")) == 1, "not its number")
        #expect(count(record("# 0007 · A choice")) == 1)
        #expect(count(record("# 0007: A choice", "2026-11-21")) == 1)
        #expect(count(record("# 0007: A choice", "Date: 2026-11-21 · Status: old")) == 1)
        func later(_ number: String) -> String {
            "Date: 2026-11-21 · Status: superseded by \(number)"
        }
        #expect(count(record("# 0007: A choice", later("0010"))) == 1, "it does not exist")
        #expect(count(record("# 0007: A choice", later("0007"))) == 1, "it is the same")
        let status = "Date: 2026-11-21 · Status: accepted"
        let headings = ["## Choice", "## Context", "## Consequences"]
        #expect(count(record("# 0007: A choice", status, headings)) == 1, "another order")
        #expect(count(record(text: "")) == 3, "nothing below its headings")
        #expect(count(record(text: String(repeating: "x", count: 151))) == 3)
        var long = record().lines
        long.insert(contentsOf: Array(repeating: "More.", count: 50), at: 5)
        #expect(count(Repository.File(path: record().path, lines: long)) == 1)
        #expect(count(Repository.File(path: "Decisions/notes.md", lines: record().lines)) == 1)
    }

    @Test func `refuse an index that is not of the records`() {
        func found(_ rows: String...) -> Int {
            let index = Repository.File(path: "Decisions/README.md", lines: rows)
            return DecisionRules.indexViolations(in: index, of: [record()]).count
        }
        let row = "| [0007](0007-a-choice.md) | A choice | amended by 0009 | It says so. |"
        #expect(found("# Decisions", row) == 0)
        #expect(found("# Decisions") == 1)
        #expect(found(row, row) == 1, "twice")
        #expect(found(row.replacing("amended by 0009", with: "accepted")) == 2)
        #expect(found(row, row.replacing("0007", with: "0008")) == 1)
    }

    @Test func `see a mention of no record`() {
        let file = Repository.File(
            path: "README.md", lines: ["See Decisions/0007 and", "[it](Decisions/0017-a.md)."])
        let found = DecisionRules.danglingMentions(in: file, numbers: ["0007"])
        #expect(found.map(\.line) == [2])
    }
}
