import TidemarkModel

/// Index entries of documents that were just inserted, to be written in the order of their keys: 25 with
/// one statement, and each page of an index touched once. One statement an entry, in the order in which
/// documents came, was a quarter of taking many in.
///
/// Until they are written no query of the transaction finds these documents by an index, and none of them
/// may be changed.
package struct NewEntries {
    /// Of one index, in one collection.
    fileprivate struct Part {
        let index: FieldIndex
        let collection: CollectionRow
        var entries = SortedEntries()
    }

    /// One for each index over a collection that documents came for.
    private var parts: [Part] = []
    /// Of further ones, entries are written at once: with few documents in each there is little to put in
    /// order.
    private static let mostParts = 16
    private var count = 0

    /// Documents for which it is worth it: as many as go with one statement.
    package static let fewest = OwnSQL.entriesAtOnce
    /// Past it, they are written before more are gathered.
    private static let most = 4_000

    package init() {}

    fileprivate var isFull: Bool { count >= Self.most }

    /// - Returns: False, with nothing done, where the index cannot be dealt with so: where a document has
    ///   many entries in it, where the filling is still to come by, or where there are too many of them.
    fileprivate mutating func add(
        _ row: IndexedRow, _ fields: EncodedFields, to index: FieldIndex
    ) throws(StoreError) -> Bool {
        guard index.definition.hasOneKey, index.definition.scope == .collection,
            index.covers(row.collection.id, row.name),
            let place = place(of: index, row.collection)
        else { return false }
        try parts[place].entries.add(row.id) { writer in
            row.name.withUnsafeBytes {
                index.definition.writeKey(of: fields, name: $0, &writer)
            }
        }
        count += 1
        return true
    }

    private mutating func place(of index: FieldIndex, _ collection: CollectionRow) -> Int? {
        let known = parts.firstIndex {
            $0.index.id == index.id && $0.collection.id == collection.id
        }
        if let known { return known }
        guard parts.count < Self.mostParts else { return nil }
        parts.append(Part(index: index, collection: collection))
        return parts.count - 1
    }

    fileprivate mutating func write(_ connection: Connection) throws(StoreError) {
        for place in parts.indices {
            parts[place].entries.endRun()
            let (index, collection) = (parts[place].index, parts[place].collection)
            while let entries = parts[place].next() {
                try IndexEntries(connection: connection).insert(
                    entries, of: index, in: collection, parts[place].entries)
            }
        }
        self = NewEntries()
    }
}

extension NewEntries.Part {
    /// The next ones that go with one statement; nil when there are no more.
    fileprivate mutating func next() -> [SortedEntries.Entry]? {
        var next: [SortedEntries.Entry] = []
        next.reserveCapacity(OwnSQL.entriesAtOnce)
        while next.count < OwnSQL.entriesAtOnce, let entry = entries.popLeast() {
            next.append(entry)
        }
        return next.isEmpty ? nil : next
    }
}

extension DocumentTable {
    /// As ``insert(ifNew:)``, for many at a time.
    package func insert(
        ifNew document: StoredDocument, _ entries: inout NewEntries
    ) throws(StoreError) -> Int64? {
        let (row, collection, name) = try insertRow(ifNew: document)
        guard let row else { return nil }
        if collection.group.indexes.isEmpty || document.kind != .found { return row }
        let indexed = IndexedRow(
            id: row, collection: collection, name: name, path: document.path)
        for index in collection.group.indexes
        where try !entries.add(indexed, document.contents, to: index) {
            try IndexEntries(connection: connection).replace(
                of: indexed, in: index, from: EncodedFields?.none, to: document.contents)
        }
        if entries.isFull { try write(&entries) }
        return row
    }

    /// Writes what was gathered.
    package func write(_ entries: inout NewEntries) throws(StoreError) {
        try transaction.requireWriting()
        try entries.write(connection)
    }
}
