import TidemarkModel

/// Counts the index entries of a document, and their bytes according to Firestore's documentation
/// of storage sizes: the document's name, its parent's name for an index of a collection, the
/// field's name, the indexed part of the value, and 32.
///
/// Production was observed to count two entries for a value, ascending and descending, with the
/// whole of a map or an array as a single value; two for each distinct element of an array; and the
/// same again for values inside maps. Source: server-production-facts 9.
struct IndexEntryTally {
    private(set) var count = 0
    /// The bytes of all entries, and of the document itself after its fields were added.
    private(set) var bytes = 0
    private(set) var hasTooLargeEntry = false

    private let configuration: IndexConfiguration
    /// The collection group; nil if nothing is declared or set.
    private let group: ByteString?
    /// True if repeated elements are counted once. Otherwise the count is fast, and may be too
    /// large.
    private let isExact: Bool
    /// The bytes of every entry, for an index of a collection and for an index of a group.
    private let collectionBase: Int
    private let groupBase: Int
    private let documentBytes: Int

    init(_ path: DocumentPath, _ configuration: IndexConfiguration, isExact: Bool) {
        self.configuration = configuration
        self.isExact = isExact
        let isAutomatic = configuration.overrides.isEmpty && configuration.composites.isEmpty
        group = isAutomatic ? nil : ByteString(path.collectionID)
        documentBytes = path.storageSize + 32
        groupBase = documentBytes
        collectionBase = groupBase + Self.parentSize(path)
    }

    /// Returns the size of the parent's name. The parent of a root collection is the root: an empty
    /// name of 16 bytes.
    static func parentSize(_ path: DocumentPath) -> Int {
        let slash = UInt8(ascii: "/")
        return path.text.withBytes { bytes in
            guard let last = bytes.lastIndex(of: slash),
                let before = bytes[..<last].lastIndex(of: slash)
            else { return 16 }
            return before + 1 + 16
        }
    }

    /// The number of entries of a value in the indexes of its field.
    private struct Ways {
        var ordered = 2
        var orderedInGroup = 0
        /// The number of entries for each distinct element.
        var elements = 2
        var elementsInGroup = 0

        static let automatic = Ways()

        init() {}

        init(_ indexes: [FieldOverride.Index]) {
            (ordered, elements) = (0, 0)
            for index in indexes {
                switch (index.mode, index.scope) {
                case (.ordered, .collection): ordered += 1
                case (.ordered, .collectionGroup): orderedInGroup += 1
                case (.contains, .collection): elements += 2
                case (.contains, .collectionGroup): elementsInGroup += 2
                case (.vector, _): break
                }
            }
        }
    }

    /// Adds all fields of the document, and the document itself. Call it once.
    mutating func add(_ fields: MapValue) {
        let settings = group.flatMap(configuration.catalog.settings(of:))
        let ways = settings?.indexes.map(Ways.init) ?? Ways.automatic
        bytes += documentBytes + add(fields, settings: settings, ways: ways, pathBytes: 0)
        guard let group else { return }
        for index in configuration.catalog.composites(of: group) { add(index, fields) }
    }

    /// - Parameters:
    ///   - settings: The settings of the map's fields; nil if they are indexed like the map.
    ///   - ways: The indexes of the map.
    ///   - pathBytes: The size of the names of the enclosing maps, with a dot after each.
    /// - Returns: The storage size of the fields.
    private mutating func add(
        _ fields: MapValue, settings: FieldSettings?, ways: Ways, pathBytes: Int
    ) -> Int {
        var size = 0
        for entry in fields.entries {
            let nameBytes = entry.key.utf8.count + 1
            let own = settings?[entry.key]
            let ownWays = own?.indexes.map(Ways.init) ?? ways
            size +=
                nameBytes
                + add(entry.value, settings: own, ways: ownWays, nameBytes: pathBytes + nameBytes)
        }
        return size
    }

    private mutating func add(
        _ value: Value, settings: FieldSettings?, ways: Ways, nameBytes: Int
    ) -> Int {
        let size: Int
        switch value {
        case .map(let fields):
            size = add(fields, settings: settings, ways: ways, pathBytes: nameBytes)
        case .array(let elements): size = add(elements, ways: ways, nameBytes: nameBytes)
        default: size = value.storageSize
        }
        add(ways.ordered, inGroup: ways.orderedInGroup, nameBytes: nameBytes, valueBytes: size)
        return size
    }

    private mutating func add(_ elements: [Value], ways: Ways, nameBytes: Int) -> Int {
        var seen: Set<EquivalentValue> = []
        var total = 0
        for element in elements {
            let size = element.storageSize
            total += size
            if ways.elements == 0, ways.elementsInGroup == 0 { continue }
            if isExact, !seen.insert(EquivalentValue(value: element)).inserted { continue }
            add(
                ways.elements, inGroup: ways.elementsInGroup, nameBytes: nameBytes, valueBytes: size
            )
        }
        return total
    }

    /// Adds the entries of a value.
    private mutating func add(
        _ inCollection: Int, inGroup: Int, nameBytes: Int, valueBytes: Int
    ) {
        let own = nameBytes + min(valueBytes, IndexLimits.valueBytes)
        count += inCollection + inGroup
        bytes += inCollection * (collectionBase + own) + inGroup * (groupBase + own)
        if inCollection > 0, collectionBase + own > IndexLimits.singleFieldBytes {
            hasTooLargeEntry = true
        }
        if inGroup > 0, groupBase + own > IndexLimits.otherBytes { hasTooLargeEntry = true }
    }
}

// MARK: - Declared indexes

extension IndexEntryTally {
    /// Adds an entry if the document has every field, and one for each distinct element of its
    /// array.
    private mutating func add(_ index: CompositeIndex, _ fields: MapValue) {
        var entries = 1
        var size = index.scope == .collection ? collectionBase : groupBase
        for part in index.fields where !part.path.isDocumentID {
            guard let value = fields[part.path] else { return }
            var valueBytes = value.storageSize
            switch (part.mode, value) {
            case (.ordered, _): break
            case (.contains, .array(let elements)):
                entries =
                    isExact ? Set(elements.map(EquivalentValue.init(value:))).count : elements.count
                valueBytes = elements.map(\.storageSize).max() ?? 0
            case (.vector(let dimension), .vector(let vector)):
                if vector.array.count != dimension { return }
            case (.contains, _), (.vector, _): return
            }
            size += min(valueBytes, IndexLimits.valueBytes)
        }
        count += entries
        bytes += entries * size
        if entries > 0, size > IndexLimits.otherBytes { hasTooLargeEntry = true }
    }
}
