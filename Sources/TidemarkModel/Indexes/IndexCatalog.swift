/// The indexes of a database: declared composite indexes, and overrides for single fields.
///
/// By default, a field is indexed in its collection: ascending, descending, and by array elements.
/// Source: server-protocol 2.2.
package struct IndexCatalog: Hashable, Sendable {
    package private(set) var composites: [CompositeIndex] = []
    package private(set) var overrides: [FieldOverride] = []

    private var byGroup: [ByteString: [CompositeIndex]] = [:]
    private var settings: [ByteString: FieldSettings] = [:]

    /// The group under which production keeps the settings for all groups.
    private static let everyGroup = ByteString("__default__")

    /// Makes a catalog with automatic indexes only.
    package init() {}

    package mutating func append(_ composite: CompositeIndex) {
        composites.append(composite)
        byGroup[composite.group, default: []].append(composite)
    }

    package mutating func append(_ field: FieldOverride) {
        overrides.removeAll { $0.group == field.group && $0.field == field.field }
        overrides.append(field)
        settings[field.group, default: FieldSettings()]
            .set(field.indexes, at: (field.field?.segments ?? [])[...])
    }

    package mutating func remove(_ unwanted: Set<CompositeIndex>) {
        composites.removeAll(where: unwanted.contains)
        byGroup = Dictionary(grouping: composites, by: \.group)
    }

    /// Adds an index, and keeps the indexes that the field has already.
    package mutating func add(_ missing: MissingIndex) {
        switch missing {
        case .composite(let index): if !composites.contains(index) { append(index) }
        case .singleField(let index):
            if has(index) { return }
            append(override(adding: index))
        }
    }

    /// Returns an override that adds `index`. The first override of a field keeps its automatic
    /// indexes.
    package func override(adding index: SingleFieldIndex) -> FieldOverride {
        FieldOverride(
            group: index.group.text, field: index.field.path,
            indexes: indexes(of: index.field.path, in: index.group)
                + [FieldOverride.Index(index.scope, index.field.mode)])
    }

    /// A catalog with the declared indexes alone, among them the declared indexes of single fields.
    package var withoutAutomaticIndexes: IndexCatalog {
        var result = IndexCatalog()
        result.append(
            FieldOverride(group: Self.everyGroup.text, field: nil, indexes: []))
        for composite in composites { result.append(composite) }
        for override in overrides {
            guard let field = override.field else { continue }
            for index in override.indexes {
                let single = CompositeIndex(
                    group: override.group.text, scope: index.scope,
                    fields: [IndexedField(field, index.mode)])
                if !result.composites.contains(single) { result.append(single) }
            }
        }
        return result
    }

    package func composites(of group: ByteString, _ scope: IndexScope) -> [CompositeIndex] {
        byGroup[group]?.filter { $0.scope == scope } ?? []
    }

    package func composites(of group: ByteString) -> [CompositeIndex] { byGroup[group] ?? [] }

    /// Returns the settings of a group's fields; nil if all indexes are automatic.
    package func settings(of group: ByteString) -> FieldSettings? {
        if settings.isEmpty { return nil }
        let every = settings[Self.everyGroup]
        guard var own = settings[group] else { return every }
        if own.indexes == nil { own.indexes = every?.indexes }
        return own
    }

    /// Returns the single-field indexes of a field. The first of these settings applies: the
    /// field's, the nearest enclosing map's, the group's, the database's, the automatic one.
    package func indexes(of field: FieldPath, in group: ByteString) -> [FieldOverride.Index] {
        settings(of: group)?.indexes(of: field) ?? FieldOverride.Index.automatic
    }

    package func has(_ index: SingleFieldIndex) -> Bool {
        let wanted = FieldOverride.Index(index.scope, index.field.mode)
        return indexes(of: index.field.path, in: index.group).contains(wanted)
    }
}
