package import TidemarkModel

/// What an index holds and in which order.
///
/// A document has an entry when it has every field of the index (one for each distinct element,
/// where a field is indexed by elements). Read backwards, the same index serves the flipped order.
package struct IndexDefinition: Hashable, Sendable {
    package enum Scope: Hashable, Sendable {
        /// Each collection of the id for itself.
        case collection
        /// All collections of the id as one.
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

        /// Nil for elements of an array.
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

    /// - Precondition: At most one field is indexed by its elements: more would multiply.
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

    /// `conversationId asc, timestamp desc of messages`
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
