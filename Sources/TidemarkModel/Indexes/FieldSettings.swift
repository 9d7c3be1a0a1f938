/// What was set for the fields of one group, by the maps they lie in.
package struct FieldSettings: Hashable, Sendable {
    /// For the field at this place and all below that have no setting of their own; at the top, for
    /// the whole group. Nil where nothing was set here.
    package var indexes: [FieldOverride.Index]?
    private var inner: [ByteString: FieldSettings] = [:]

    package init() {}

    package mutating func set(_ indexes: [FieldOverride.Index], at path: ArraySlice<String>) {
        guard let name = path.first else {
            self.indexes = indexes
            return
        }
        inner[ByteString(name), default: FieldSettings()].set(indexes, at: path.dropFirst())
    }

    /// The settings of a field right below, and of what it holds.
    package subscript(name: String) -> FieldSettings? {
        inner.isEmpty ? nil : inner[ByteString(name)]
    }

    /// Nil where nothing was set for the field, nor for what is around it.
    package func indexes(of field: FieldPath) -> [FieldOverride.Index]? {
        var result = indexes
        var place: FieldSettings? = self
        for segment in field.segments {
            place = place?[segment]
            result = place?.indexes ?? result
        }
        return result
    }
}
