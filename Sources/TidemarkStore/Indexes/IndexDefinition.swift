package import TidemarkModel

/// The fields of an index and their order.
///
/// A document has an entry if it has every field of the index. If a field is indexed by elements,
/// it has an entry for each distinct element. Read backwards, the index serves the reversed order.
package struct IndexDefinition: Hashable, Sendable {
    package enum Scope: Hashable, Sendable {
        /// Each collection with the id is indexed by itself.
        case collection
        /// The collections with the id are indexed together.
        case group
    }

    package struct Field: Hashable, Sendable {
        package enum Kind: Int64, Hashable, Sendable {
            case ascending = 0, descending, contains
        }

        package let path: FieldPath
        package let kind: Kind

        package init(_ path: FieldPath, _ kind: Kind = .ascending) {
            precondition(!path.isDocumentID, "every index ends in the name by itself")
            self.path = path
            self.kind = kind
        }

        /// The direction; nil for elements of an array.
        var direction: Direction? {
            switch kind {
            case .ascending: .ascending
            case .descending: .descending
            case .contains: nil
            }
        }
    }

    package let collectionID: String
    package let scope: Scope
    package let fields: [Field]
    /// The direction of the document's name, which ends every entry.
    package let name: Direction

    /// - Precondition: At most one field is indexed by its elements, because the entries of two
    ///   would multiply.
    package init(
        collectionID: String, scope: Scope = .collection, fields: [Field],
        name: Direction = .ascending
    ) {
        precondition(fields.count { $0.kind == .contains } <= 1)
        self.collectionID = collectionID
        self.scope = scope
        self.fields = fields
        self.name = name
    }

    /// The definition as text, for example `conversationId asc, timestamp desc of messages`.
    package var sentence: String {
        let parts = fields.map { "\($0.path) \($0.kind.word)" }
        let list = parts.isEmpty ? "name" : parts.joined(separator: ", ")
        return "\(list) of \(scope == .group ? "all " : "")\(collectionID)"
    }
}

extension IndexDefinition.Field.Kind {
    fileprivate var word: String {
        switch self {
        case .ascending: "asc"
        case .descending: "desc"
        case .contains: "contains"
        }
    }
}
