import TidemarkModel

/// The index entries of documents in a database of the Enterprise edition, which has only the
/// declared indexes, and their sizes by Firestore's documentation of storage sizes.
struct EntrySizes {
    let indexes: [CompositeIndex]

    /// - Parameter indexes: The indexes whose entries are counted.
    init(_ indexes: [CompositeIndex]) { self.indexes = indexes }

    /// Returns the bytes that a query scans for one of its rows: an entry of each index.
    func bytes(at path: DocumentPath, _ fields: MapValue) -> Int {
        indexes.reduce(0) { sum, index in
            sum + max(UnitBilling.leastScannedBytes, Self.bytes(of: index, at: path, fields))
        }
    }

    /// Returns the size of the largest entry of a document in an index.
    private static func bytes(
        of index: CompositeIndex, at path: DocumentPath, _ fields: MapValue
    ) -> Int {
        index.fields.reduce(base(of: index, at: path)) { size, part in
            guard !part.path.isDocumentID, let value = fields[part.path] else { return size }
            var bytes = value.storageSize
            if part.mode == .contains {
                bytes = value.arrayElements.map(\.storageSize).max() ?? 0
            }
            return size + min(bytes, IndexLimits.valueBytes)
        }
    }

    /// Returns the bytes that every entry has: names and 32.
    private static func base(of index: CompositeIndex, at path: DocumentPath) -> Int {
        let own = path.storageSize + 32
        return index.scope == .collection ? own + IndexEntryTally.parentSize(path) : own
    }

    // MARK: Writes

    /// An index entry without its size.
    private struct Entry: Hashable {
        let index: Int
        var values: [EquivalentValue] = []
    }

    /// Returns the write units for the entries that a write deletes and creates.
    ///
    /// - Parameters:
    ///   - before: The document's fields before the write; nil if there was none.
    ///   - after: The fields after the write; nil if it is deleted.
    func units(at path: DocumentPath, from before: MapValue?, to after: MapValue?) -> Int {
        let old = before.map { entries(at: path, $0) } ?? [:]
        let new = after.map { entries(at: path, $0) } ?? [:]
        let deleted = old.filter { new[$0.key] == nil }.values
        let created = new.filter { old[$0.key] == nil }.values
        return (Array(deleted) + Array(created)).reduce(0) { $0 + UnitBilling.write(bytes: $1) }
    }

    /// Returns the entries of a document with their sizes. A document without one of the fields is
    /// not in the index.
    private func entries(at path: DocumentPath, _ fields: MapValue) -> [Entry: Int] {
        var result: [Entry: Int] = [:]
        for (number, index) in indexes.enumerated() {
            var rows = [Entry(index: number): Self.base(of: index, at: path)]
            for part in index.fields where !part.path.isDocumentID {
                var longer: [Entry: Int] = [:]
                for value in Self.choices(fields[part.path], part.mode) {
                    for (entry, bytes) in rows {
                        var entry = entry
                        entry.values.append(EquivalentValue(value: value))
                        longer[entry] = bytes + min(value.storageSize, IndexLimits.valueBytes)
                    }
                }
                rows = longer
            }
            result.merge(rows) { $1 }
        }
        return result
    }

    /// Returns the indexed values of a field: none if it is not indexed, each element of an array.
    private static func choices(_ value: Value?, _ mode: IndexedField.Mode) -> [Value] {
        guard let value else { return [] }
        switch mode {
        case .ordered: return [value]
        case .contains: return value.arrayElements
        case .vector(let dimension):
            if case .vector(let vector) = value, vector.array.count == dimension { return [value] }
            return []
        }
    }
}
