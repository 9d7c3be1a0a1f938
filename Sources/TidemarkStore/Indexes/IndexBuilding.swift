import TidemarkModel

/// The indexes that queries wished for and are not there yet.
final class IndexingState {
    struct Wish: Hashable {
        let database: Int64
        let definition: IndexDefinition
    }

    private(set) var wishes: [Wish] = []
    /// Documents that queries of this transaction looked at.
    var scanned = 0
    /// Whether an index may be unfinished in the file: true until that was looked up.
    var mayBeUnfinished = true

    /// How many wishes wait; later ones come again with the next query.
    private static let maxWishes = 32
    /// How many indexes are made on demand for one collection id, and for one database.
    static let maxPerGroup = 16
    static let maxPerDatabase = 200

    func wish(_ wish: Wish) {
        if wishes.count < Self.maxWishes, !wishes.contains(wish) { wishes.append(wish) }
    }

    func takeWishes() -> [Wish] {
        defer { wishes = [] }
        return wishes
    }

    func forget() {
        wishes = []
        scanned = 0
        mayBeUnfinished = true
    }
}

extension Connection {
    /// Documents that are indexed after any transaction while there is an unfinished index.
    private static let slice = 1_000

    /// Makes wished indexes after a transaction: for twice the documents that its queries looked
    /// at, so that the pause is in proportion to the scan that asked for it.
    ///
    /// An index is never needed, so what stops it (a full disk) is left to the transaction that
    /// meets it.
    func settleIndexes() {
        let scanned = indexing.scanned
        indexing.scanned = 0
        guard indexing.mayBeUnfinished || !indexing.wishes.isEmpty else { return }
        _ = try? buildIndexes(documents: max(Self.slice, 2 * scanned))
    }

    /// Fills unfinished indexes, in a transaction of its own.
    ///
    /// - Returns: Whether there is more to do.
    func buildIndexes(documents: Int) throws(StoreError) -> Bool {
        guard indexing.mayBeUnfinished || !indexing.wishes.isEmpty else { return false }
        let wishes = indexing.takeWishes()
        try begin(synced: false)
        do throws(StoreError) {
            for wish in wishes { try create(wish) }
            var budget = documents
            while budget > 0, let group = try unfinishedGroup() {
                try fill(group, &budget)
            }
            let isUnfinished = try unfinishedGroup() != nil
            try commit()
            indexing.mayBeUnfinished = isUnfinished
            return isUnfinished
        } catch {
            // A failed commit has rolled back by itself.
            if isWriting { rollback() }
            indexing.mayBeUnfinished = false
            throw error
        }
    }

    private func create(_ wish: IndexingState.Wish) throws(StoreError) {
        let definition = wish.definition
        let group = try catalog.group(definition.collectionID, in: wish.database, self)
        if group.indexes.contains(where: { $0.definition == definition }) { return }
        let count = try statement(.countIndexes)
        defer { count.release() }
        count.bind(1, definition.collectionID)
        count.bind(2, wish.database)
        guard try count.step(), count.integer(0) < IndexingState.maxPerDatabase,
            count.integer(1) < IndexingState.maxPerGroup
        else { return }
        group.indexes.append(
            try FieldIndex.insert(definition, database: wish.database, isDeclared: false, self))
    }

    private func unfinishedGroup() throws(StoreError) -> CollectionGroup? {
        let statement = try statement(.unfinishedIndexes)
        defer { statement.release() }
        guard try statement.step() else { return nil }
        return try catalog.group(statement.text(1), in: statement.integer(0), self)
    }
}

// MARK: - Filling

extension Connection {
    /// Goes on with the first unfinished index of the group; an index is ready with the last
    /// document.
    ///
    /// - Parameter budget: Documents, and collections, still to be looked at.
    func fill(_ group: CollectionGroup, _ budget: inout Int) throws(StoreError) {
        guard let position = group.indexes.firstIndex(where: { !$0.isReady }) else {
            throw .corrupt(detail: "the indexes of \(group.id)")
        }
        var index = group.indexes[position]
        while budget > 0, !index.isReady {
            budget -= 1
            if index.builtCollection != 0, try fillCollection(&index, &budget) { continue }
            if let next = try collection(after: index.builtCollection, in: group) {
                index.builtCollection = next
                index.builtName = []
            } else {
                index.isReady = true
            }
        }
        try index.saveProgress(self)
        group.indexes[position] = index
    }

    /// - Returns: Whether the collection may have more documents.
    private func fillCollection(
        _ index: inout FieldIndex, _ budget: inout Int
    ) throws(StoreError) -> Bool {
        let collection = try catalog.collection(id: index.builtCollection, self)
        let wanted = min(max(budget, 1), 2_000)
        let statement = try statement(.documentsToIndex)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, index.builtName)
        statement.bind(3, wanted)
        var entries: [(key: [UInt8], row: IndexedRow)] = []
        var count = 0
        while try statement.step() {
            count += 1
            let name = statement.blob(1)
            guard let id = KeyWriter.segment(in: statement.bytes(1))?.id else {
                throw .corrupt(detail: "a name in \(collection.path)")
            }
            let row = IndexedRow(
                id: statement.integer(0), collection: collection, name: name,
                path: DocumentPath(unchecked: "\(collection.path.text)/\(id)"))
            let fields = EncodedFields(trusted: statement.blob(2)).decoded
            entries += index.definition.keys(of: fields, row).map { ($0, row) }
            index.builtName = name
        }
        // In their order, neighbours share pages.
        entries.sort { KeyRange.precedes($0.key, $1.key) }
        for entry in entries { try insertEntry(entry.key, of: index, entry.row) }
        budget -= count
        return count == wanted
    }

    private func collection(
        after id: Int64, in group: CollectionGroup
    ) throws(StoreError) -> Int64? {
        let statement = try statement(.nextCollectionOfGroup)
        defer { statement.release() }
        statement.bind(1, group.database)
        statement.bind(2, group.id)
        statement.bind(3, id)
        return try statement.step() ? statement.integer(0) : nil
    }
}
