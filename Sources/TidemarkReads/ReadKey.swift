import TidemarkModel

/// The identity of a line: a caller, a kind of call, a collection, and the shape of a query. Two
/// texts are equal if their bytes are equal.
package struct ReadKey: Hashable, Comparable, Sendable {
    /// The caller, such as a test's name.
    package let label: String
    /// The call, such as `RunQuery`.
    package let call: String
    /// The collection, with `*` for the ids of documents.
    package let target: String
    /// The query with `?` for its values; empty for a read of documents by their names.
    package let query: String

    package init(label: String, call: String, target: String, query: String) {
        self.label = label
        self.call = call
        self.target = target
        self.query = query
    }

    /// The texts in the order in which lines are sorted.
    private var parts: [String] { [label, call, target, query] }

    package static func == (left: ReadKey, right: ReadKey) -> Bool {
        zip(left.parts, right.parts).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    package func hash(into hasher: inout Hasher) {
        for part in parts { part.hashBytes(into: &hasher) }
    }

    package static func < (left: ReadKey, right: ReadKey) -> Bool {
        for (a, b) in zip(left.parts, right.parts) where !a.hasSameBytes(as: b) {
            return a.precedesInBytes(b)
        }
        return false
    }

    /// The line in words, without its label.
    package var summary: String {
        [call, target, query].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
