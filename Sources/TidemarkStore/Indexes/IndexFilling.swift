import TidemarkModel

/// Fills an index with the documents that existed before it.
struct IndexFiller {
    let connection: Connection

    /// Continues with the first unfinished index of the group. An index is ready after its last
    /// document.
    ///
    /// - Parameter budget: The remaining steps: one for each collection, each document read and
    ///   each entry written, so about two per document.
    func fill(_ group: CollectionGroup, _ budget: inout Int) throws(StoreError) {
        guard let position = group.indexes.firstIndex(where: { !$0.isReady }) else {
            throw .corrupt(detail: "the indexes of \(group.id)")
        }
        var index = group.indexes[position]
        while budget > 0, !index.isReady {
            if index.builtCollection != 0, try fillCollection(&index, &budget) { continue }
            budget -= 1
            if let next = try collection(after: index.builtCollection, in: group) {
                index.builtCollection = next
                index.builtName = []
            } else {
                index.isReady = true
            }
        }
        if index != group.indexes[position] { try index.saveProgress(connection) }
        group.indexes[position] = index
    }

    /// Makes progress with any budget.
    ///
    /// - Returns: True if the collection may have more documents.
    private func fillCollection(
        _ index: inout FieldIndex, _ budget: inout Int
    ) throws(StoreError) -> Bool {
        // Takes the batch out while it changes. An error rolls the transaction back and drops the
        // batch.
        var batch = takeBatch(for: index)
        switch batch.stage {
        case .listing:
            guard try list(&batch, from: index.builtName, &budget) else { return false }
        case .sorting:
            batch.sort()
            // Sorting many documents takes some milliseconds, so the time must be checked, as
            // before it.
            budget = 0
        case .reading: try read(&batch, index: index, budget: &budget)
        case .writing: try write(&batch, index: index, budget: &budget)
        case .done:
            index.builtName = batch.through
            return true
        }
        connection.indexing.batch = batch
        return true
    }

    private func takeBatch(for index: FieldIndex) -> EntryBatch {
        defer { connection.indexing.batch = nil }
        if let batch = connection.indexing.batch, batch.index == index.id,
            batch.collection == index.builtCollection
        {
            return batch
        }
        return EntryBatch(index: index.id, collection: index.builtCollection)
    }

    /// - Returns: True if there is a document to index.
    private func list(
        _ batch: inout EntryBatch, from name: [UInt8], _ budget: inout Int
    ) throws(StoreError) -> Bool {
        // Listing a name takes a tenth of the time of reading a document.
        let wanted = min(batch.room, 10 * min(budget, EntryBatch.capacity))
        let statement = try connection.statement(.namesToIndex)
        defer { statement.release() }
        statement.bind(1, batch.collection)
        statement.bind(2, batch.through.isEmpty ? name : batch.through)
        statement.bind(3, wanted)
        var count = 0
        while try statement.step() {
            count += 1
            batch.list(statement.integer(0))
        }
        budget -= max(1, count / 10)
        guard let last = batch.lastListed else { return false }
        if count > 0 { batch.haveListed(through: try self.name(ofDocument: last)) }
        if count == wanted, batch.room > 0 { return true }
        batch.endListing()
        budget = 0
        return true
    }

    private func name(ofDocument id: Int64) throws(StoreError) -> [UInt8] {
        let statement = try connection.statement(.nameByID)
        defer { statement.release() }
        statement.bind(1, id)
        guard try statement.step() else { throw .corrupt(detail: "document \(id)") }
        return statement.blob(0)
    }

    private func read(
        _ batch: inout EntryBatch, index: FieldIndex, budget: inout Int
    ) throws(StoreError) {
        let collection = try connection.catalog.collection(id: batch.collection, connection)
        let statement = try connection.statement(.documentsToIndex)
        defer { statement.release() }
        statement.bind(3, collection.id)
        defer { batch.endReading() }
        while budget > 0, let run = batch.nextRows(atMost: budget) {
            statement.bind(1, run.first)
            statement.bind(2, run.last)
            var isWhole = true
            while try statement.step() {
                let id = statement.integer(2)
                guard batch.take(id, &budget) else { continue }
                try add(statement, id: id, in: collection, index: index, batch: &batch)
                if batch.isFull {
                    isWhole = false
                    break
                }
            }
            // These documents were removed or are now missing.
            if isWhole { batch.skip(through: run.last, &budget) }
            statement.reset()
        }
    }

    private func add(
        _ statement: PreparedStatement, id: Int64, in collection: CollectionRow,
        index: FieldIndex, batch: inout EntryBatch
    ) throws(StoreError) {
        let definition = index.definition
        let fields = FieldsInPlace(statement.bytes(1))
        if definition.hasOneKey, definition.scope == .collection {
            return try batch.add(id) { writer throws(StoreError) in
                definition.writeKey(of: fields, name: statement.bytes(0), &writer)
            }
        }
        guard let path = collection.document(named: statement.bytes(0)) else {
            throw .corrupt(detail: "a name in \(collection.path)")
        }
        let row = IndexedRow(id: id, collection: collection, name: statement.blob(0), path: path)
        for key in definition.keys(of: fields, row) {
            try batch.add(id) { writer throws(StoreError) in
                writer.bytes += key
                return true
            }
        }
    }

    private func write(
        _ batch: inout EntryBatch, index: FieldIndex, budget: inout Int
    ) throws(StoreError) {
        let collection = try connection.catalog.collection(id: batch.collection, connection)
        while budget > 0 {
            let count = min(budget, OwnSQL.entriesAtOnce)
            let entries = batch.next(count)
            budget -= entries.count
            try IndexEntries(connection: connection).insert(
                entries, of: index, in: collection, batch.entries)
            if entries.count < count { return batch.endWriting() }
        }
    }

    private func collection(
        after id: Int64, in group: CollectionGroup
    ) throws(StoreError) -> Int64? {
        let statement = try connection.statement(.nextCollectionOfGroup)
        defer { statement.release() }
        statement.bind(1, group.database)
        statement.bind(2, group.id)
        statement.bind(3, id)
        return try statement.step() ? statement.integer(0) : nil
    }
}
