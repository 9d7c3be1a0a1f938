import SwiftParser
import SwiftSyntax

/// One Swift file, parsed. What does not parse is kept: the parser goes on behind it.
final class SourceFile {
    let path: String
    let text: String
    let tree: SourceFileSyntax
    let converter: SourceLocationConverter
    /// Its lines, without their ends.
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        tree = Parser.parse(source: text)
        converter = SourceLocationConverter(fileName: path, tree: tree)
        lines = text.split(separator: /\r\n|\n|\r/, omittingEmptySubsequences: false)
    }

    var hasSyntaxErrors: Bool { tree.hasError }

    /// Whether it names one of the modules that speak to Firestore.
    var importsFirestore: Bool {
        tree.statements.contains { item in
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
