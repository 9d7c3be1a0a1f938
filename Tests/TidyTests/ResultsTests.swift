import Foundation
import Testing
import TestSupport

/// Compares the figures in the documents with the results of their runs. This test finds and rounds
/// the figures with its own code, not with `Scripts/tables`, which wrote them.
@Suite(.ownThread) struct `The figures` {
    private static let results = Repository.root.appending(path: "Benchmarks/Results")
    private static let end = "<!-- end of results -->"

    /// A placeholder in a template: the path of a figure, and its format.
    private struct Place {
        let suite: String
        let path: [String]
        var digits = 3
        var factor = 1.0

        init(_ text: Substring) throws {
            let halves = text.split(separator: "|")
            let path = halves[0].split(separator: "/").map(String.init)
            suite = path[0]
            self.path = Array(path.dropFirst())
            guard halves.count == 2 else { return }
            let format = halves[1].split(separator: "*")
            digits = try #require(Int(format[0]))
            if format.count == 2 { factor = try #require(Double(format[1])) }
        }

        /// Returns the figure in the results, or a text. `isMissed` is true if the figure's row
        /// says that the figure misses its bar.
        func found() throws -> (number: Double, text: String?, isMissed: Bool) {
            var value = try #require(try Self.run(suite)["output"])
            var row: [String: Any] = [:]
            for step in path {
                if let object = value as? [String: Any] {
                    row = object
                    value = try #require(object[step], "\(suite).json has no \(step)")
                } else {
                    let list = try #require(value as? [[String: Any]])
                    value = try #require(
                        list.first { Self.isRight($0, step) }, "\(suite).json has no \(step)")
                }
            }
            if let text = value as? String { return (0, text, false) }
            let number = try #require(value as? NSNumber).doubleValue * factor
            return (number, nil, path.last == "figure" && row["holds"] as? Bool == false)
        }

        private static func isRight(_ row: [String: Any], _ wanted: String) -> Bool {
            wanted.split(separator: "&").allSatisfy { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                return row[parts[0]].map { "\($0)" } == parts[1]
            }
        }

        static func run(_ suite: String) throws -> [String: Any] {
            let file = `The figures`.results.appending(path: suite + ".json")
            let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
            return try #require(json as? [String: Any])
        }

        /// True if `text` is `number` with the required digits.
        func isRight(_ text: Substring, _ number: Double) -> Bool {
            let plain = text.filter { $0 != "," }
            guard let shown = Double(plain) else { return false }
            guard number != 0 else { return plain == "0" }
            let exponent = Int(log10(abs(number)).rounded(.down))
            let unit = pow(10, Double(exponent - digits + 1))
            let decimals = plain.split(separator: ".").dropFirst().first?.count ?? 0
            let isWhole = number == number.rounded()
            let wanted = isWhole ? 0 : max(0, digits - 1 - exponent)
            // 9.96 becomes 10.0, with one decimal less than 9.95.
            let isRoundedUp = abs(shown) >= pow(10, Double(exponent + 1)) * (1 - 1e-12)
            return abs(shown - number) <= unit * 0.5000001
                && decimals == (isRoundedUp ? max(0, wanted - 1) : wanted)
        }
    }

    /// Returns how a line differs from its template, or nil if the line matches.
    private func fault(of line: String, from template: String) throws -> String? {
        var rest = line[...]
        var wanted = template[...]
        while let open = wanted.firstIndex(of: "{") {
            let close = try #require(wanted[open...].firstIndex(of: "}"))
            guard rest.hasPrefix(wanted[..<open]) else { return "other words: \(rest)" }
            rest = rest.dropFirst(wanted[..<open].count)
            let place = try Place(wanted[wanted.index(after: open)..<close])
            wanted = wanted[wanted.index(after: close)...]
            let (number, words, isMissed) = try place.found()
            if let words {
                guard rest.hasPrefix(words) else { return "not \(words): \(rest)" }
                rest = rest.dropFirst(words.count)
                continue
            }
            let isBold = rest.hasPrefix("**")
            if isBold != isMissed { return "bold, or not, against its bar: \(rest)" }
            if isBold { rest = rest.dropFirst(2) }
            let text = rest.prefix { $0.isNumber || $0 == "," || $0 == "." || $0 == "-" }
            if !place.isRight(text, number) { return "\(text) is not \(number)" }
            rest = rest.dropFirst(text.count + (isBold ? 2 : 0))
        }
        return rest == wanted ? nil : "other words: \(rest)"
    }

    /// Returns the blocks of a document: the name, the lines and the start of each.
    private func blocks(
        of file: Repository.File
    ) -> [(name: String, lines: ArraySlice<String>, start: Int)] {
        let starts = file.lines.indices.filter { file.lines[$0].hasPrefix("<!-- results: ") }
        return starts.compactMap { start in
            let name = file.lines[start].dropFirst("<!-- results: ".count).prefix { $0 != " " }
            guard let end = file.lines[start...].firstIndex(of: Self.end) else { return nil }
            return (String(name), file.lines[(start + 1)..<end], start)
        }
    }

    private let documents = Repository.files.filter { file in
        file.path == "README.md"
            || (file.path.hasPrefix("Documentation/") && file.path.hasSuffix(".md"))
    }

    private static let suites = Set([
        "app", "bench", "caller", "client", "demo", "encryption", "files", "health", "healthkit",
        "pipelines", "reads", "server", "takeover",
    ])

    /// The suites that have results.
    private static let measured = Set(
        ((try? FileManager.default.contentsOfDirectory(atPath: results.path)) ?? [])
            .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) })

    /// Returns the template of a block, or "Not measured yet." if a suite has no results.
    private func template(_ name: String) throws -> [String] {
        let file = Self.results.appending(path: "Tables/\(name).md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let named = Set(text.matches(of: /\{(\w+)\//).map { String($0.output.1) })
        #expect(named.isSubset(of: Self.suites), "\(name)")
        if !named.isSubset(of: Self.measured) { return ["Not measured yet."] }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    @Test func `in the documents are those of the results`() throws {
        var found: [Violation] = []
        var (shown, tables) = (0, Set<String>())
        for file in documents {
            for block in blocks(of: file) {
                tables.insert(block.name)
                let wanted = try template(block.name)
                if wanted.count != block.lines.count {
                    found.append(
                        Violation(file: file.path, line: block.start + 1, text: "other lines"))
                }
                for ((index, line), template) in zip(block.lines.enumerated(), wanted) {
                    shown += template.count { $0 == "{" }
                    guard let fault = try fault(of: line, from: template) else { continue }
                    found.append(
                        Violation(file: file.path, line: block.start + 2 + index, text: fault))
                }
            }
        }
        #expect(found.isEmpty, "\(found.report)")
        let files = try FileManager.default.contentsOfDirectory(
            atPath: Self.results.appending(path: "Tables").path)
        #expect(tables.map { $0 + ".md" }.sorted() == files.sorted())
        if Self.measured == Self.suites {
            #expect(shown >= 250, "only \(shown) figures were compared")
        }
    }

    @Test func `are each of one run that says when, of what and where`() throws {
        #expect(Self.measured.isSubset(of: Self.suites))
        for name in Self.measured {
            let run = try Place.run(name)
            let date = try #require(run["date"] as? String)
            #expect(date.count == 20 && date.hasSuffix("Z"), "\(name)")
            let commit = try #require(run["commit"] as? String)
            #expect(commit.prefix { $0.isHexDigit }.count == 40, "\(name)")
            let machine = try #require(run["machine"] as? [String: Any])
            for key in ["processor", "cores", "system", "swift"] {
                #expect(machine[key] != nil, "\(name) has no \(key)")
            }
        }
    }

    @Test func `of speed stand nowhere else in the README`() throws {
        let file = try #require(Repository.files.first { $0.path == "README.md" })
        let inBlocks = Set(blocks(of: file).flatMap(\.lines.indices))
        let figure = try Regex(#"[0-9][0-9.,]* ?(µs|ms|MB/s|documents/s|MiB)\b"#)
        var isCode = false
        var found: [Violation] = []
        for (index, line) in file.lines.enumerated() {
            if line.hasPrefix("```") { isCode.toggle() }
            // The text between backticks is input that a user types.
            let prose = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(separator: " ")
            guard !isCode, !inBlocks.contains(index), prose.contains(figure) else { continue }
            found.append(Violation(file: file.path, line: index + 1, text: line))
        }
        #expect(found.isEmpty, "\(found.report)")
    }
}
