/// The indexes of a database: those that were declared, and what was set for single fields.
///
/// A field that nobody spoke of is indexed in its collection, ascending, descending and by the
/// elements of arrays. Source: server-protocol 2.2.
package struct IndexCatalog: Hashable, Sendable {
    package private(set) var composites: [CompositeIndex] = []
    package private(set) var overrides: [FieldOverride] = []

    private var byGroup: [ByteString: [CompositeIndex]] = [:]
    private var settings: [ByteString: FieldSettings] = [:]

    /// The group that production keeps the settings for all groups under.
    private static let everyGroup = ByteString("__default__")

    /// No more than what is automatic.
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

    /// Adds what is missing, beside what a field has already.
    package mutating func add(_ missing: MissingIndex) {
        switch missing {
        case .composite(let index): if !composites.contains(index) { append(index) }
        case .singleField(let index):
            if has(index) { return }
            append(override(adding: index))
        }
    }

    /// The first setting of a field keeps what it had without one.
    package func override(adding index: SingleFieldIndex) -> FieldOverride {
        FieldOverride(
            group: index.group.text, field: index.field.path,
            indexes: indexes(of: index.field.path, in: index.group)
                + [FieldOverride.Index(index.scope, index.field.mode)])
    }

    package func composites(of group: ByteString, _ scope: IndexScope) -> [CompositeIndex] {
        byGroup[group]?.filter { $0.scope == scope } ?? []
    }

    package func composites(of group: ByteString) -> [CompositeIndex] { byGroup[group] ?? [] }

    /// The settings of a group's fields; nil where all is automatic.
    package func settings(of group: ByteString) -> FieldSettings? {
        if settings.isEmpty { return nil }
        let every = settings[Self.everyGroup]
        guard var own = settings[group] else { return every }
        if own.indexes == nil { own.indexes = every?.indexes }
        return own
    }

    /// How the field is indexed by itself: by its own setting, else that of the nearest map around
    /// it, else the group's, else the database's, else automatically.
    package func indexes(of field: FieldPath, in group: ByteString) -> [FieldOverride.Index] {
        settings(of: group)?.indexes(of: field) ?? FieldOverride.Index.automatic
    }

    package func has(_ index: SingleFieldIndex) -> Bool {
        let wanted = FieldOverride.Index(index.scope, index.field.mode)
        return indexes(of: index.field.path, in: index.group).contains(wanted)
    }
}
