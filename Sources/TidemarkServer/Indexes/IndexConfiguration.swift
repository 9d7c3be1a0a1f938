public import Foundation
package import TidemarkModel

/// The indexes of a database, in the form of `firestore.indexes.json`: declared indexes, and
/// settings of single fields.
///
/// A field without settings is indexed in its collection, ascending, descending and by the elements
/// of arrays. Source: server-protocol 2.2.
public struct IndexConfiguration: Hashable, Sendable {
    /// The maximum number of declared indexes of a database with billing, and of settings of single
    /// fields; source: server-protocol 2.1.
    public static let maxComposites = 1_000
    public static let maxOverrides = 1_000
    /// The maximum number of fields of an index.
    public static let maxFields = 100

    package private(set) var catalog = IndexCatalog()
    package var composites: [CompositeIndex] { catalog.composites }
    package var overrides: [FieldOverride] { catalog.overrides }
    /// The policies of time to live, at most one for each collection group.
    package private(set) var expiryPolicies: [ExpiryPolicy] = []
    /// Sentences about the parts of the file that were read and are not used.
    public private(set) var remarks: [String] = []

    /// The file as it was read and extended, including unknown keys.
    private(set) var root: [String: JSONTree] = ["indexes": .list([]), "fieldOverrides": .list([])]

    /// Creates a configuration with only automatic indexes.
    public init() {}

    /// Reads the text of a `firestore.indexes.json`; comments are allowed, as in Firebase's own
    /// tools.
    ///
    /// - Throws: ``IndexFileError`` with the place of the error.
    public init(json: Data) throws(IndexFileError) {
        var reader = IndexFileReader()
        root = try reader.read(json)
        for composite in reader.composites { catalog.append(composite) }
        for field in reader.overrides { catalog.append(field) }
        expiryPolicies = reader.expiryPolicies
        remarks = reader.remarks
    }

    /// The indexes of a database of the Enterprise edition: the declared ones alone. An index of a
    /// single field is declared like any other, or in the settings of the field.
    package var withoutAutomaticIndexes: IndexConfiguration {
        var result = self
        result.catalog = catalog.withoutAutomaticIndexes
        return result
    }

    /// The text of the file, with the added indexes, sorted.
    public var json: Data { JSONTree.object(root).data }
}

// MARK: - Adding

extension IndexConfiguration {
    /// Adds a missing index.
    ///
    /// - Returns: False if a bound is reached, with nothing changed: ``maxComposites``,
    ///   ``maxOverrides``.
    package mutating func add(_ missing: MissingIndex) -> Bool {
        switch missing {
        case .composite(let index):
            if composites.contains(index) { return true }
            if composites.count >= Self.maxComposites { return false }
            catalog.append(index)
            root["indexes"] = .list(root["indexes"].elements + [index.tree]).sortedIndexes
        case .singleField(let index): return add(index)
        }
        return true
    }

    private mutating func add(_ index: SingleFieldIndex) -> Bool {
        if catalog.has(index) { return true }
        let path = index.field.path
        let isNew = !overrides.contains { $0.group == index.group && $0.field == path }
        if isNew, overrides.count >= Self.maxOverrides { return false }
        let override = catalog.override(adding: index)
        catalog.append(override)
        var list = root["fieldOverrides"].elements
        let tree = JSONTree.list(override.indexes.map(\.tree))
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

// MARK: - Removing

extension IndexConfiguration {
    /// Removes declared indexes; unknown keys stay.
    package mutating func remove(_ unwanted: Set<CompositeIndex>) {
        catalog.remove(unwanted)
        let kept = root["indexes"].elements.filter { tree in
            !(IndexFileReader.composite(tree).map(unwanted.contains) ?? false)
        }
        root["indexes"] = .list(kept)
    }
}

/// The reason why a file of indexes cannot be used.
public struct IndexFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence with the place: `indexes[2].fields[0].order: …`.
    public let message: String
    public var description: String { message }

    init(_ message: String) { self.message = message }

    init(at place: String, _ sentence: String) { message = "\(place): \(sentence)" }
}
