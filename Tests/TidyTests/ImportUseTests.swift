import Foundation
import Testing
import TestSupport

/// Finds imports that a file does not use. A file uses a module if the file contains a name that
/// the module declares. The check may miss an unused import, but each import that it reports is
/// unused.
struct ImportUse {
    /// Patterns of the names in modules that come with the toolchain.
    private static let system = [
        "Synchronization":
            #"\b(Mutex|Atomic\w*|withLock\w*|storeIfNil|compareExchange|wrapping\w+)\b|\.(load|store|exchange|add)\("#,
        "Dispatch": #"\bDispatch\w*|\.(async|sync|asyncAfter|signal|wait|enter|leave|notify)\b"#,
        "Testing":
            #"@Test|@Suite|#expect|#require|\bIssue\b|Trait|\bTest\b|SourceLocation|CustomTestStringConvertible"#,
    ]
    private static let declaration = try! NSRegularExpression(
        pattern: #"\b(?:var|let|func|struct|class|enum|actor|protocol|typealias|case)\s+`?(\w+)"#)
    private static let word = try! NSRegularExpression(pattern: #"\w+"#)

    /// The modules that a module exports as its own.
    private static let exports = [
        "Tidemark": ["TidemarkModel", "TidemarkSync"], "TidemarkTesting": ["TidemarkTestKit"],
    ]

    /// The names that each module of this package declares or exports, by module.
    private let declared: [String: Set<String>]

    init(_ files: [Repository.File]) {
        var declared: [String: Set<String>] = [:]
        for file in files where file.path.hasPrefix("Sources/") {
            guard let target = file.target else { continue }
            for line in file.lines {
                let code = line.components(separatedBy: "//")[0]
                declared[target, default: []].formUnion(Self.names(in: code))
            }
        }
        for (module, exported) in Self.exports {
            let names = exported.compactMap { declared[$0] }
            declared[module]?.formUnion(names.joined())
        }
        self.declared = declared
    }

    private static func names(in code: String) -> [String] {
        let range = NSRange(code.startIndex..., in: code)
        let found = declaration.matches(in: code, range: range)
            .compactMap { Range($0.range(at: 1), in: code).map { String(code[$0]) } }
        // One line may declare several cases.
        guard code.trimmingCharacters(in: .whitespaces).hasPrefix("case ") else { return found }
        return found + words(in: code)
    }

    private static func words(in text: String) -> [String] {
        word.matches(in: text, range: NSRange(text.startIndex..., in: text))
            .compactMap { Range($0.range, in: text).map { String(text[$0]) } }
    }

    func violations(in file: Repository.File) -> [Violation] {
        var imports: [(line: Int, module: String)] = []
        var code: [String] = []
        for (index, line) in file.lines.enumerated() {
            if let module = ImportRules.module(imported: line) {
                if !line.contains("@_exported") { imports.append((index + 1, module)) }
            } else {
                code.append(line.components(separatedBy: "//")[0])
            }
        }
        if imports.isEmpty { return [] }
        let text = code.joined(separator: "\n")
        let words = Set(Self.words(in: text))
        return imports.filter { !isUsed($0.module, text, words) }.map {
            Violation(file: file.path, line: $0.line, text: "nothing of \($0.module) is used")
        }
    }

    private func isUsed(_ module: String, _ text: String, _ words: Set<String>) -> Bool {
        if let pattern = Self.system[module] {
            return text.range(of: pattern, options: .regularExpression) != nil
        }
        // TidemarkSystem exports the C library, whose names this check does not know.
        if module == "TidemarkSystem" { return true }
        return declared[module].map { !$0.isDisjoint(with: words) } ?? true
    }
}

@Suite(.ownThread) struct `Imports` {
    @Test func `are of what is used`() {
        let use = ImportUse(Repository.swift)
        let found = Repository.swift.filter { !$0.isGenerated && !$0.isTidy }
            .flatMap(use.violations)
        #expect(found.isEmpty, "\(found.report)")
    }

    @Test func `are found where nothing is used`() {
        func file(_ path: String, _ lines: String...) -> Repository.File {
            Repository.File(path: path, lines: lines)
        }
        let model = file("Sources/TidemarkModel/A.swift", "public struct Page {", "    case a, b")
        let use = ImportUse([model])
        func lines(_ text: String...) -> [Int] {
            let imports = [
                "import Synchronization", "public import TidemarkModel", "import Crypto",
            ]
            let file = Repository.File(path: "Sources/TidemarkStore/B.swift", lines: imports + text)
            return use.violations(in: file).map(\.line)
        }
        #expect(lines("let x = 1") == [1, 2], "of what is not ours, nothing is known")
        #expect(lines("let x = Mutex(Page())") == [])
        #expect(lines("x.withLock { $0 = .b }") == [])
        #expect(lines("// A Page in a Mutex") == [1, 2], "a comment uses nothing")
    }
}
