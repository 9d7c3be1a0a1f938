/// The set of documents that one index covers.
package enum IndexScope: String, Hashable, Sendable, CaseIterable {
    /// Collections with the given id, each by itself.
    case collection = "COLLECTION"
    /// Collections with the given id, all together.
    case collectionGroup = "COLLECTION_GROUP"

    /// The scope in the words of an explain report.
    package var spoken: String { self == .collection ? "Collection" : "Collection group" }
}

/// A part of an index: a field, and the mode in which it is indexed.
package struct IndexedField: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        case ordered(Direction)
        /// The distinct elements of an array.
        case contains
        /// Vectors with this number of dimensions, searched by distance.
        case vector(dimension: Int)
    }

    package let path: FieldPath
    package let mode: Mode

    package init(_ path: FieldPath, _ mode: Mode) {
        self.path = path
        self.mode = mode
    }

    /// The text in an explain report, for example `(a ASC, tags CONTAINS, v VECTOR<3>)`.
    package var spoken: String {
        switch mode {
        case .ordered(.ascending): "\(path.encoded) ASC"
        case .ordered(.descending): "\(path.encoded) DESC"
        case .contains: "\(path.encoded) CONTAINS"
        case .vector(let dimension): "\(path.encoded) VECTOR<\(dimension)>"
        }
    }
}

/// A declared index of one or more fields.
package struct CompositeIndex: Hashable, Sendable {
    /// The id of the collections.
    package let group: ByteString
    package let scope: IndexScope
    /// The completed list of fields, as production stores it: `__name__` is before a vector and
    /// after all other fields.
    package let fields: [IndexedField]

    /// - Parameter fields: The fields, with or without `__name__`.
    package init(group: String, scope: IndexScope, fields: [IndexedField]) {
        self.group = ByteString(group)
        self.scope = scope
        self.fields = Self.completed(fields)
    }

    /// Adds `__name__` if it is missing, in the direction of the field before it; ascending after
    /// an array field.
    private static func completed(_ fields: [IndexedField]) -> [IndexedField] {
        if fields.contains(where: \.path.isDocumentID) { return fields }
        var result = fields.filter { !$0.isVector }
        var direction = Direction.ascending
        if case .ordered(let last)? = result.last?.mode { direction = last }
        result.append(IndexedField(.documentID, .ordered(direction)))
        return result + fields.filter(\.isVector)
    }

    package var hasVector: Bool { fields.contains(where: \.isVector) }

    /// The use of this index, as an explain report names it.
    package var use: IndexUse {
        IndexUse(
            queryScope: scope.spoken,
            properties: "(\(fields.map(\.spoken).joined(separator: ", ")))")
    }
}

extension IndexedField {
    package var isVector: Bool { if case .vector = mode { true } else { false } }
}

/// An index of a single field, in one mode.
package struct SingleFieldIndex: Hashable, Sendable {
    /// The id of the collections.
    package let group: ByteString
    package let scope: IndexScope
    package let field: IndexedField

    package init(group: String, scope: IndexScope, field: IndexedField) {
        precondition(!field.isVector, "vectors are declared with the composite indexes")
        self.group = ByteString(group)
        self.scope = scope
        self.field = field
    }

    /// The use of this index, as an explain report names it. Such an index breaks ties in its own
    /// direction.
    package var use: IndexUse {
        CompositeIndex(group: group.text, scope: scope, fields: [field]).use
    }

    /// The kind in an explain report, for example `COLLECTION_GROUP_ASC`.
    package var kind: String {
        switch field.mode {
        case .ordered(.ascending): scope.rawValue + "_ASC"
        case .ordered(.descending): scope.rawValue + "_DESC"
        case .contains, .vector: scope.rawValue + "_CONTAINS"
        }
    }
}

/// An override of a field's automatic indexes: the field has these indexes and no others.
package struct FieldOverride: Hashable, Sendable {
    package struct Index: Hashable, Sendable {
        package let scope: IndexScope
        package let mode: IndexedField.Mode

        package init(_ scope: IndexScope, _ mode: IndexedField.Mode) {
            self.scope = scope
            self.mode = mode
        }

        /// The indexes of a field without an override. Collection group indexes are off by default.
        package static let automatic: [Index] = [
            Index(.collection, .ordered(.ascending)), Index(.collection, .ordered(.descending)),
            Index(.collection, .contains),
        ]
    }

    package let group: ByteString
    /// The field; nil for `*`, which means every field of the group without an override of its own.
    package let field: FieldPath?
    /// The indexes. If empty, the field is exempt from indexing.
    package let indexes: [Index]

    package init(group: String, field: FieldPath?, indexes: [Index]) {
        self.group = ByteString(group)
        self.field = field
        self.indexes = indexes
    }
}
