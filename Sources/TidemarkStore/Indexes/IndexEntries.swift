import TidemarkModel

/// A document with everything that its index entries need.
struct IndexedRow {
    let id: Int64
    let collection: CollectionRow
    /// The document's name inside the collection.
    let name: [UInt8]
    let path: DocumentPath
}

extension IndexDefinition {
    /// Returns the keys of a document without duplicates; empty if the document lacks a field of
    /// the index.
    func keys(of fields: some FieldSource, _ row: IndexedRow) -> [[UInt8]] {
        if hasOneKey {
            var writer = KeyWriter()
            writer.bytes.reserveCapacity(64)
            let name = scope == .group ? row.path.pathKey : row.name
            let isWhole = name.withUnsafeBytes { writeKey(of: fields, name: $0, &writer) }
            return isWhole ? [writer.bytes] : []
        }
        var keys: [[UInt8]] = [[]]
        for field in self.fields {
            guard let value = fields[field.path] else { return [] }
            if let direction = field.direction {
                let part = KeyWriter.key(of: value, direction)
                for index in keys.indices { keys[index] += part }
            } else {
                guard case .array(let elements) = value else { return [] }
                let parts = Set(elements.map { KeyWriter.key(of: $0) })
                keys = keys.flatMap { head in parts.map { head + $0 } }
            }
        }
        let tail = nameKey(row)
        for index in keys.indices { keys[index] += tail }
        return keys
    }

    /// True if a document has at most one key; false if it has one for each element of an array.
    var hasOneKey: Bool { !fields.contains { $0.kind == .contains } }

    /// Appends the only key of a document to `writer`.
    ///
    /// - Parameter name: The document's name in its collection, or its whole path, depending on the
    ///   scope.
    /// - Returns: False if the document lacks a field of the index. The bytes written are then not
    ///   a key.
    func writeKey(
        of fields: some FieldSource, name: UnsafeRawBufferPointer, _ writer: inout KeyWriter
    ) -> Bool {
        for field in self.fields {
            switch fields.field(at: field.path) {
            case nil: return false
            case .text(let text): writer.append(text: text, field.direction!)
            case .value(let value): writer.append(value, field.direction!)
            }
        }
        let start = writer.bytes.count
        writer.bytes.append(contentsOf: name)
        if self.name == .descending { writer.invert(from: start) }
        return true
    }

    /// Returns true if two versions of a document certainly have the same keys, by comparing
    /// encoded fields. Making both keys would cost three times as much, and most changes affect no
    /// indexed field.
    func surelyKeeps(
        keysOf old: (some FieldSource)?, as new: (some FieldSource)?
    ) -> Bool {
        guard let old = old as? EncodedFields, let new = new as? EncodedFields else { return false }
        return fields.allSatisfy { old.hasSameEncoding(as: new, at: $0.path) }
    }

    private func nameKey(_ row: IndexedRow) -> [UInt8] {
        let key = scope == .group ? row.path.pathKey : row.name
        return name == .ascending ? key : key.map { ~$0 }
    }
}

/// Writes and removes the entries of documents in the indexes of their collections.
struct IndexEntries {
    let connection: Connection

    /// Updates the entries of a document from one version to another. Only differing entries are
    /// touched.
    func replace(
        of row: IndexedRow, from old: (some FieldSource)?, to new: (some FieldSource)?
    ) throws(StoreError) {
        for index in row.collection.group.indexes {
            try replace(of: row, in: index, from: old, to: new)
        }
        try WordEntries(connection: connection).replace(of: row, from: old, to: new)
    }

    func replace(
        of row: IndexedRow, in index: FieldIndex, from old: (some FieldSource)?,
        to new: (some FieldSource)?
    ) throws(StoreError) {
        let isCovered = index.covers(row.collection.id, row.name)
        if isCovered, index.definition.surelyKeeps(keysOf: old, as: new) { return }
        let before = old.map { index.definition.keys(of: $0, row) } ?? []
        let after = new.map { index.definition.keys(of: $0, row) } ?? []
        if !isCovered { return try replaceAwaited(row, before: before, after: after, index: index) }
        if before.count == 1, before == after { return }
        let kept = before.count > 1 ? Set(before).intersection(after) : []
        for key in before where !kept.contains(key) { try deleteEntry(key, of: index, row) }
        for key in after where !kept.contains(key) { try insertEntry(key, of: index, row) }
    }

    /// Updates entries that the filling has not reached or is about to write. The old version may
    /// have entries, from a current or lost batch. The new version gets its entries now, or with a
    /// later batch.
    private func replaceAwaited(
        _ row: IndexedRow, before: [[UInt8]], after: [[UInt8]], index: FieldIndex
    ) throws(StoreError) {
        for key in before { try deleteEntry(key, of: index, row) }
        guard let batch = connection.indexing.batch, batch.index == index.id,
            batch.holds(row.collection.id, row.name)
        else { return }
        for key in after { try insertEntry(key, of: index, row) }
        connection.indexing.leaveOut(row.id)
    }

    private func insertEntry(
        _ key: [UInt8], of index: FieldIndex, _ row: IndexedRow
    ) throws(StoreError) {
        let statement = try connection.statement(.insertEntry)
        defer { statement.release() }
        statement.bind(1, index.id)
        statement.bind(2, index.scope(row.collection))
        statement.bind(4, row.id)
        try statement.run(3, key)
    }

    private func deleteEntry(
        _ key: [UInt8], of index: FieldIndex, _ row: IndexedRow
    ) throws(StoreError) {
        let statement = try connection.statement(.deleteEntry)
        defer { statement.release() }
        statement.bind(1, index.id)
        statement.bind(2, index.scope(row.collection))
        statement.bind(3, key)
        try statement.run()
    }

    /// Inserts entries of one index, in one collection.
    ///
    /// - Parameters:
    ///   - entries: At most as many entries as one statement takes.
    ///   - sorted: The source of the entries, which holds their keys.
    func insert(
        _ entries: [SortedEntries.Entry], of index: FieldIndex, in collection: CollectionRow,
        _ sorted: SortedEntries
    ) throws(StoreError) {
        let scope = index.scope(collection)
        if entries.count == OwnSQL.entriesAtOnce {
            let statement = try connection.statement(.insertEntries)
            defer { statement.release() }
            statement.bind(1, index.id)
            statement.bind(2, scope)
            var isDone = false
            try sorted.withKeys { key throws(StoreError) in
                for (place, entry) in entries.enumerated() {
                    statement.bind(Int32(2 * place + 3), inPlace: key(entry))
                    statement.bind(Int32(2 * place + 4), entry.row)
                }
                isDone = try statement.runUnlessInConflict()
            }
            if isDone { return }
        }
        // Existing entries were left by a partly built index and are replaced.
        let statement = try connection.statement(.insertEntry)
        defer { statement.release() }
        statement.bind(1, index.id)
        statement.bind(2, scope)
        try sorted.withKeys { key throws(StoreError) in
            for entry in entries {
                statement.bind(3, inPlace: key(entry))
                statement.bind(4, entry.row)
                try statement.run()
            }
        }
    }
}
