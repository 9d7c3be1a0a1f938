import TidemarkModel

/// The index entries of documents that were just inserted, to be written in key order: 25 per
/// statement, so each page of an index is visited once. One statement per entry, in the order of
/// the documents, took a quarter of the time of storing many documents.
///
/// Until they are written, no query of the transaction finds these documents by an index, and none
/// of the documents may be changed.
package struct NewEntries {
    /// The entries of one index, in one collection.
    fileprivate struct Part {
        let index: FieldIndex
        let collection: CollectionRow
        var entries = SortedEntries()
    }

    /// The parts, one for each index over a collection of the documents.
    private var parts: [Part] = []
    /// The maximum number of parts. Entries of further parts are written immediately, because with
    /// few documents in each there is little to sort.
    private static let mostParts = 16
    private var count = 0

    /// The minimum number of documents for which sorting is worthwhile, equal to the number of
    /// entries per statement.
    package static let fewest = OwnSQL.entriesAtOnce
    /// The number of entries from which they are written before more are collected.
    private static let most = 4_000

    package init() {}

    fileprivate var isFull: Bool { count >= Self.most }

    /// - Returns: False, without any change, if the index cannot be handled this way: a document
    ///   has several entries in it, its filling has not reached the document, or there are too many
    ///   parts.
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
    /// Returns the next entries for one statement; nil if there are none.
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
    /// Like ``insert(ifNew:)``, for many documents.
    package func insert(
        ifNew document: StoredDocument, _ entries: inout NewEntries
    ) throws(StoreError) -> Int64? {
        let (row, collection, name) = try insertRow(ifNew: document)
        guard let row else { return nil }
        if !collection.group.isIndexed || document.kind != .found { return row }
        let indexed = IndexedRow(
            id: row, collection: collection, name: name, path: document.path)
        for index in collection.group.indexes
        where try !entries.add(indexed, document.contents, to: index) {
            try IndexEntries(connection: connection).replace(
                of: indexed, in: index, from: EncodedFields?.none, to: document.contents)
        }
        try WordEntries(connection: connection).replace(
            of: indexed, from: EncodedFields?.none, to: document.contents)
        if entries.isFull { try write(&entries) }
        return row
    }

    /// Writes the collected entries.
    package func write(_ entries: inout NewEntries) throws(StoreError) {
        try transaction.requireWriting()
        try entries.write(connection)
    }
}
