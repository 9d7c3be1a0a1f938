public import Foundation
import TidemarkModel

/// The indexes of a database, as in `firestore.indexes.json`: those that were declared, and what was
/// set for single fields.
///
/// A field that nobody spoke of is indexed in its collection, ascending, descending and by the
/// elements of arrays. Source: server-protocol 2.2.
public struct IndexConfiguration: Hashable, Sendable {
    /// Declared indexes of a database with billing, and settings of single fields; source:
    /// server-protocol 2.1.
    public static let maxComposites = 1_000
    public static let maxOverrides = 1_000
    /// Fields of one index.
    public static let maxFields = 100

    package private(set) var composites: [CompositeIndex] = []
    package private(set) var overrides: [FieldOverride] = []
    /// What was read and is not used, in a sentence each.
    public private(set) var remarks: [String] = []

    private var byGroup: [ByteString: [CompositeIndex]] = [:]
    private var settings: [ByteString: FieldSettings] = [:]
    /// The file as it was read and added to, with the keys that mean nothing to us.
    private(set) var root: [String: JSONTree] = ["indexes": .list([]), "fieldOverrides": .list([])]

    /// The group that production keeps the settings for all groups under.
    private static let everyGroup = ByteString("__default__")

    /// No more than what is automatic.
    public init() {}

    /// The text of a `firestore.indexes.json`; comments are allowed, as in Firebase's own tools.
    ///
    /// - Throws: ``IndexFileError`` with the place of what is wrong.
    public init(json: Data) throws(IndexFileError) {
        var reader = IndexFileReader()
        root = try reader.read(json)
        for composite in reader.composites { append(composite) }
        for field in reader.overrides { append(field) }
        remarks = reader.remarks
    }

    /// The text of the file, with what was added, sorted.
    public var json: Data { JSONTree.object(root).data }

    private mutating func append(_ composite: CompositeIndex) {
        composites.append(composite)
        byGroup[composite.group, default: []].append(composite)
    }

    private mutating func append(_ field: FieldOverride) {
        overrides.removeAll { $0.group == field.group && $0.field == field.field }
        overrides.append(field)
        settings[field.group, default: FieldSettings()]
            .set(field.indexes, at: (field.field?.segments ?? [])[...])
    }

    func composites(of group: ByteString, _ scope: IndexScope) -> [CompositeIndex] {
        byGroup[group]?.filter { $0.scope == scope } ?? []
    }

    func composites(of group: ByteString) -> [CompositeIndex] { byGroup[group] ?? [] }

    /// The settings of a group's fields; nil where all is automatic.
    func settings(of group: ByteString) -> FieldSettings? {
        if settings.isEmpty { return nil }
        let every = settings[Self.everyGroup]
        guard var own = settings[group] else { return every }
        if own.indexes == nil { own.indexes = every?.indexes }
        return own
    }

    /// How the field is indexed by itself: by its own setting, else that of the nearest map around
    /// it, else the group's, else the database's, else automatically.
    func indexes(of field: FieldPath, in group: ByteString) -> [FieldOverride.Index] {
        settings(of: group)?.indexes(of: field) ?? FieldOverride.Index.automatic
    }

    func has(_ index: SingleFieldIndex) -> Bool {
        let wanted = FieldOverride.Index(index.scope, index.field.mode)
        return indexes(of: index.field.path, in: index.group).contains(wanted)
    }
}

// MARK: - Adding

extension IndexConfiguration {
    /// Adds what is missing.
    ///
    /// - Returns: False at a bound, with nothing changed: ``maxComposites``, ``maxOverrides``.
    package mutating func add(_ missing: MissingIndex) -> Bool {
        switch missing {
        case .composite(let index):
            if composites.contains(index) { return true }
            if composites.count >= Self.maxComposites { return false }
            append(index)
            root["indexes"] = .list(root["indexes"].elements + [index.tree]).sortedIndexes
        case .singleField(let index): return add(index)
        }
        return true
    }

    private mutating func add(_ index: SingleFieldIndex) -> Bool {
        if has(index) { return true }
        let path = index.field.path
        let isNew = !overrides.contains { $0.group == index.group && $0.field == path }
        if isNew, overrides.count >= Self.maxOverrides { return false }
        // The first setting of a field keeps what it had without one.
        let indexes =
            indexes(of: path, in: index.group)
            + [FieldOverride.Index(index.scope, index.field.mode)]
        append(FieldOverride(group: index.group.text, field: path, indexes: indexes))
        var list = root["fieldOverrides"].elements
        let tree = JSONTree.list(indexes.map(\.tree))
        if let known = list.firstIndex(where: { $0.isOverride(of: path, in: index.group) }) {
            list[known] = list[known].setting("indexes", tree)
        } else {
            list.append(
                .object([
                    "collectionGroup": .text(index.group.text), "fieldPath": .text(path.encoded),
                    "indexes": tree,
                ]))
        }
        root["fieldOverrides"] = .list(list).sortedIndexes
        return true
    }
}

/// Why a file of indexes cannot be used.
public struct IndexFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence that names the place: `indexes[2].fields[0].order: …`.
    public let message: String
    public var description: String { message }

    init(_ message: String) { self.message = message }

    init(at place: String, _ sentence: String) { message = "\(place): \(sentence)" }
}
