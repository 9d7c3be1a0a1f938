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
    var importsFirestore: Bool { Self.importsFirestore(tree.statements) }

    /// Also where that stands in `#if canImport(FirebaseFirestore)`.
    private static func importsFirestore(_ items: CodeBlockItemListSyntax) -> Bool {
        items.contains { item in
            if let choice = item.item.as(IfConfigDeclSyntax.self) {
                return choice.clauses.contains { clause in
                    guard case .statements(let inner)? = clause.elements else { return false }
                    return importsFirestore(inner)
                }
            }
            guard let name = item.item.as(ImportDeclSyntax.self)?.path.first?.name.text else {
                return false
            }
            return ["Firebase", "FirebaseFirestore", "FirebaseFirestoreSwift", "FirebaseCore"]
                .contains(name) || name.hasPrefix("Tidemark")
        }
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
