/// The index settings for the fields of one collection group, nested like the maps that hold the
/// fields.
package struct FieldSettings: Hashable, Sendable {
    /// The setting for the field at this position and all fields below without their own setting.
    /// At the top, the setting for the whole group. Nil if nothing was set here.
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

    /// The settings of a field directly below, and of the fields inside it.
    package subscript(name: String) -> FieldSettings? {
        inner.isEmpty ? nil : inner[ByteString(name)]
    }

    /// Returns the setting for the field or for the nearest map around it; nil if neither has one.
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
