import Dispatch
import SwiftParser
import SwiftSyntax
import Synchronization

/// Files parsed on all cores, which is most of the time that a run takes.
struct ParsedTrees {
    let trees: [SourceFileSyntax]

    init(of texts: [String]) {
        let parsed = Mutex<[Int: SourceFileSyntax]>([:])
        DispatchQueue.concurrentPerform(iterations: texts.count) { index in
            let tree = Parser.parse(source: texts[index])
            parsed.withLock { $0[index] = tree }
        }
        trees = parsed.withLock { all in texts.indices.compactMap { all[$0] } }
        precondition(trees.count == texts.count)
    }
}

/// One Swift file, parsed. What does not parse is kept: the parser goes on behind it.
final class SourceFile {
    let path: String
    let text: String
    let tree: SourceFileSyntax
    let converter: SourceLocationConverter
    /// Its lines, without their ends.
    let lines: [Substring]

    init(path: String, text: String, tree: SourceFileSyntax) {
        self.path = path
        self.text = text
        self.tree = tree
        converter = SourceLocationConverter(fileName: path, tree: tree)
        lines = text.split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n" || $0 == "\r"
        }
    }

    var hasSyntaxErrors: Bool { tree.hasError }

    /// Whether it names one of the modules that speak to Firestore.
    var importsFirestore: Bool {
        importsFirebase || Self.modules(tree.statements).contains { $0.hasPrefix("Tidemark") }
    }

    /// True if it names one of Google's modules, and not only Tidemark's.
    var importsFirebase: Bool {
        !Self.modules(tree.statements).isDisjoint(with: [
            "Firebase", "FirebaseFirestore", "FirebaseFirestoreSwift", "FirebaseCore",
        ])
    }

    /// Also those that stand in `#if canImport(FirebaseFirestore)`.
    private static func modules(_ items: CodeBlockItemListSyntax) -> Set<String> {
        var found: Set<String> = []
        for item in items {
            if let choice = item.item.as(IfConfigDeclSyntax.self) {
                for clause in choice.clauses {
                    guard case .statements(let inner)? = clause.elements else { continue }
                    found.formUnion(modules(inner))
                }
            } else if let name = item.item.as(ImportDeclSyntax.self)?.path.first?.name.text {
                found.insert(name)
            }
        }
        return found
    }

    /// Line and column, from 1.
    func place(of node: some SyntaxProtocol) -> Place {
        place(at: node.positionAfterSkippingLeadingTrivia)
    }

    func place(at position: AbsolutePosition) -> Place {
        let location = converter.location(for: position)
        return Place(path: path, line: location.line, column: location.column)
    }

    func line(_ number: Int) -> String {
        lines.indices.contains(number - 1) ? String(lines[number - 1]) : ""
    }
}

/// Where something stands; line and column count from 1, the column in bytes.
package struct Place: Hashable, Sendable, Codable, Comparable {
    package var path: String
    package var line: Int
    package var column: Int

    package static func < (left: Place, right: Place) -> Bool {
        (left.path, left.line, left.column) < (right.path, right.line, right.column)
    }
}
