import Dispatch
import SwiftParser
import SwiftSyntax
import Synchronization

/// Parses files on all cores, because parsing takes most of the time of a run.
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

/// A parsed Swift file. The parser continues after code that it cannot parse.
final class SourceFile {
    let path: String
    let text: String
    let tree: SourceFileSyntax
    let converter: SourceLocationConverter
    /// The lines, without their ends.
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

    /// True if the file imports a module for Firestore.
    var importsFirestore: Bool {
        importsFirebase || Self.modules(tree.statements).contains { $0.hasPrefix("Tidemark") }
    }

    /// True if the file imports one of Google's modules.
    var importsFirebase: Bool {
        !Self.modules(tree.statements).isDisjoint(with: [
            "Firebase", "FirebaseFirestore", "FirebaseFirestoreSwift", "FirebaseCore",
        ])
    }

    /// Returns the names of the imported modules, including those in
    /// `#if canImport(FirebaseFirestore)`.
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

    /// Returns the line and the column, both from 1.
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

/// A position in a file. The line and the column count from 1; the column counts bytes.
package struct Place: Hashable, Sendable, Codable, Comparable {
    package var path: String
    package var line: Int
    package var column: Int

    package static func < (left: Place, right: Place) -> Bool {
        (left.path, left.line, left.column) < (right.path, right.line, right.column)
    }
}
