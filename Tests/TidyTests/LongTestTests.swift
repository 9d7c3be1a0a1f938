import Foundation
import Testing
import TestSupport

/// Compares CONTRIBUTING's table "What needs an hour" with the code and the Makefile's target
/// `long`.
@Suite(.ownThread) struct `What needs an hour` {
    /// A variable that the code reads, and the number that the code uses if the variable is not
    /// set.
    private struct Default: Hashable {
        let variable: String
        let number: Int
    }

    private static let contributing = text("CONTRIBUTING.md")
    private static let long = recipe(of: "long", in: text("Makefile"))
    /// Matches the default of a variable: a number, or the end of a range from 0.
    private static let fallback = try! NSRegularExpression(
        pattern: #"(?:\?\?\s*"?|,\s*"?|return\s+)(?:0\.\.<)?(\d[\d_]*)"#)
    private static let assignment = try! NSRegularExpression(
        pattern: #"(TIDEMARK_[A-Z_]+)=("[^"]*"|[^\s`,]+)"#)

    private static func text(_ path: String) -> String {
        Repository.files.first { $0.path == path }?.lines.joined(separator: "\n") ?? ""
    }

    /// Returns the commands of one target of the Makefile.
    private static func recipe(of target: String, in makefile: String) -> String {
        let lines = makefile.components(separatedBy: "\n")
        guard let first = lines.firstIndex(where: { $0.hasPrefix("\(target):") }) else { return "" }
        return lines[(first + 1)...].prefix { $0.hasPrefix("\t") }.joined(separator: "\n")
    }

    private static func matches(
        _ expression: NSRegularExpression, in text: String
    ) -> [[String]] {
        expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).map { match in
            (0..<match.numberOfRanges).map { group in
                Range(match.range(at: group), in: text).map { String(text[$0]) } ?? ""
            }
        }
    }

    /// The cells of each row, without the header row.
    private static let rows: [[String]] = {
        let section = contributing.components(separatedBy: "## What needs an hour").last ?? ""
        return section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
            .map { row in
                row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }()

    private static func assignments(in text: String) -> Set<String> {
        Set(matches(assignment, in: text).map { "\($0[1])=\($0[2])" })
    }

    private static func variables(in text: String) -> Set<String> {
        Set(matches(assignment, in: text).map { $0[1] })
    }

    /// The defaults in the code for the variables that the table names.
    private static let defaults: Set<Default> = {
        var defaults: Set<Default> = []
        let wanted = rows.reduce(into: Set<String>()) { $0.formUnion(variables(in: $1[2])) }
        for file in Repository.files
        where file.path.hasPrefix("Tests/") && !file.isTidy && !file.path.hasSuffix(".md") {
            guard file.lines.contains(where: { $0.contains("\"TIDEMARK_") }) else { continue }
            let text = file.lines.joined(separator: "\n")
            for variable in wanted {
                for part in text.components(separatedBy: "\"\(variable)\"").dropFirst() {
                    // The default is near the name of the variable.
                    let near = String(part.prefix(120))
                    guard let number = matches(fallback, in: near).first?[1],
                        let value = Int(number.replacing("_", with: ""))
                    else { continue }
                    defaults.insert(Default(variable: variable, number: value))
                }
            }
        }
        return defaults
    }()

    private static func numbers(in cell: String) -> Set<Int> {
        let expression = try! NSRegularExpression(pattern: #"\d[\d,]*"#)
        return Set(
            matches(expression, in: cell).compactMap { Int($0[0].replacing(",", with: "")) })
    }

    @Test func `is a table with rows, and a target with commands`() {
        #expect(Self.rows.count > 12 && Self.rows.allSatisfy { $0.count >= 4 }, "\(Self.rows)")
        #expect(Self.long.contains("TIDEMARK_WORLD_SEEDS"))
        #expect(Self.defaults.count > 12, "\(Self.defaults)")
    }

    @Test func `plays in make test what the code plays`() {
        for row in Self.rows {
            let variables = Self.variables(in: row[2])
            let told = Self.numbers(in: row[1])
            for found in Self.defaults where variables.contains(found.variable) {
                #expect(
                    told.contains(found.number),
                    "\(row[0]) plays \(found.number) by \(found.variable), the table says \(row[1])"
                )
            }
            let played = Self.defaults.filter { variables.contains($0.variable) }
            #expect(!played.isEmpty, "no default of \(variables) is found in the tests")
        }
    }

    @Test func `plays in make long what the Makefile says, and all of that`() {
        let told = Self.rows.reduce(into: Set<String>()) {
            $0.formUnion(Self.assignments(in: $1[2]))
        }
        let played = Self.assignments(in: Self.long)
        #expect(told.subtracting(played).isEmpty, "make long does not play this")
        #expect(played.subtracting(told).isEmpty, "the table does not say this")
    }
}
