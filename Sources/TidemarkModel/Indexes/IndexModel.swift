/// Where the documents lie that one index has entries of.
package enum IndexScope: String, Hashable, Sendable, CaseIterable {
    /// One collection at a time, whichever of its id.
    case collection = "COLLECTION"
    /// All collections of its id together.
    case collectionGroup = "COLLECTION_GROUP"

    /// In explain's words.
    package var spoken: String { self == .collection ? "Collection" : "Collection group" }
}

/// One part of an index: a field, and what of it is indexed.
package struct IndexedField: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        case ordered(Direction)
        /// The distinct elements of an array.
        case contains
        /// Vectors of so many dimensions, to be searched by distance.
        case vector(dimension: Int)
    }

    package let path: FieldPath
    package let mode: Mode

    package init(_ path: FieldPath, _ mode: Mode) {
        self.path = path
        self.mode = mode
    }

    /// As in explain's `(a ASC, tags CONTAINS, v VECTOR<3>)`.
    package var spoken: String {
        switch mode {
        case .ordered(.ascending): "\(path.encoded) ASC"
        case .ordered(.descending): "\(path.encoded) DESC"
        case .contains: "\(path.encoded) CONTAINS"
        case .vector(let dimension): "\(path.encoded) VECTOR<\(dimension)>"
        }
    }
}

/// An index that somebody declared, of one field or several.
package struct CompositeIndex: Hashable, Sendable {
    /// The collections' id.
    package let group: ByteString
    package let scope: IndexScope
    /// As production completes it: `__name__` is among them, before a vector and after all others.
    package let fields: [IndexedField]

    /// - Parameter fields: With `__name__` or without.
    package init(group: String, scope: IndexScope, fields: [IndexedField]) {
        self.group = ByteString(group)
        self.scope = scope
        self.fields = Self.completed(fields)
    }

    /// The name takes the direction of the field before it; ascending after elements of an array.
    private static func completed(_ fields: [IndexedField]) -> [IndexedField] {
        if fields.contains(where: \.path.isDocumentID) { return fields }
        var result = fields.filter { !$0.isVector }
        var direction = Direction.ascending
        if case .ordered(let last)? = result.last?.mode { direction = last }
        result.append(IndexedField(.documentID, .ordered(direction)))
        return result + fields.filter(\.isVector)
    }

    package var hasVector: Bool { fields.contains(where: \.isVector) }

    /// As explain says it.
    package var use: IndexUse {
        IndexUse(
            queryScope: scope.spoken,
            properties: "(\(fields.map(\.spoken).joined(separator: ", ")))")
    }
}

extension IndexedField {
    package var isVector: Bool { if case .vector = mode { true } else { false } }
}

/// One way in which a single field is indexed by itself.
package struct SingleFieldIndex: Hashable, Sendable {
    /// The collections' id.
    package let group: ByteString
    package let scope: IndexScope
    package let field: IndexedField

    package init(group: String, scope: IndexScope, field: IndexedField) {
        precondition(!field.isVector, "vectors are declared with the composite indexes")
        self.group = ByteString(group)
        self.scope = scope
        self.field = field
    }

    /// As explain says it: such an index breaks ties in its own direction.
    package var use: IndexUse {
        CompositeIndex(group: group.text, scope: scope, fields: [field]).use
    }

    /// As in `COLLECTION_GROUP_ASC`.
    package var kind: String {
        switch field.mode {
        case .ordered(.ascending): scope.rawValue + "_ASC"
        case .ordered(.descending): scope.rawValue + "_DESC"
        case .contains, .vector: scope.rawValue + "_CONTAINS"
        }
    }
}

/// The automatic indexes of one field, set by hand: these and no others.
package struct FieldOverride: Hashable, Sendable {
    package struct Index: Hashable, Sendable {
        package let scope: IndexScope
        package let mode: IndexedField.Mode

        package init(_ scope: IndexScope, _ mode: IndexedField.Mode) {
            self.scope = scope
            self.mode = mode
        }

        /// What a field has that nobody spoke of. Collection groups are off by default.
        package static let automatic: [Index] = [
            Index(.collection, .ordered(.ascending)), Index(.collection, .ordered(.descending)),
            Index(.collection, .contains),
        ]
    }

    package let group: ByteString
    /// Nil for `*`: every field of the group that has no setting of its own.
    package let field: FieldPath?
    /// Empty: the field is exempt from indexing.
    package let indexes: [Index]

    package init(group: String, field: FieldPath?, indexes: [Index]) {
        self.group = ByteString(group)
        self.field = field
        self.indexes = indexes
    }
}
