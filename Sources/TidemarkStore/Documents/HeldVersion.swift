package import TidemarkModel

/// Which version of a document is stored, and in which row: all that is to be known before another one
/// takes its place.
package struct HeldVersion: Hashable, Sendable {
    /// Its row. Another document may get it when this one is removed.
    package let row: Int64
    package let kind: StoredDocument.Kind
    package let updateTime: Timestamp
    package let hasCommittedMutations: Bool
}

extension DocumentTable {
    /// Costs a look-up, and nothing for the document's contents.
    package func version(at path: DocumentPath) throws(StoreError) -> HeldVersion? {
        guard let collection = try collection(of: path) else { return nil }
        let statement = try connection.statement(.documentVersion)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, path.nameKey)
        guard try statement.step() else { return nil }
        guard let kind = StoredDocument.Kind(rawValue: statement.integer(1)) else {
            throw .corrupt(detail: "document \(statement.integer(0))")
        }
        return HeldVersion(
            row: statement.integer(0), kind: kind, updateTime: try connection.time(statement, 2),
            hasCommittedMutations: statement.integer(3) != 0)
    }

    /// As ``put(_:)``, without the look.
    ///
    /// - Parameter held: What is stored there, as it was read in this transaction.
    /// - Returns: The row.
    package func put(
        _ document: StoredDocument, inPlaceOf held: HeldVersion?
    ) throws(StoreError) -> Int64 {
        precondition(document.kind == .found || document.contents.bytes.isEmpty)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        guard let held else {
            let row = try insert(document, in: collection, name)
            try reindex(document, in: collection, name, id: row, from: nil)
            return row
        }
        var old: EncodedFields?
        if held.kind == .found, !collection.group.indexes.isEmpty { old = try fields(held.row) }
        try update(held.row, document, in: collection, name)
        try reindex(document, in: collection, name, id: held.row, from: old)
        return held.row
    }

    /// Inserts a document that is hardly stored yet: one search where a look and then an insertion are
    /// two.
    ///
    /// - Returns: The row; nil, with nothing done, where there is one of its name.
    package func insert(ifNew document: StoredDocument) throws(StoreError) -> Int64? {
        let (row, collection, name) = try insertRow(ifNew: document)
        if let row { try reindex(document, in: collection, name, id: row, from: nil) }
        return row
    }

    /// The document without its index entries.
    func insertRow(
        ifNew document: StoredDocument
    ) throws(StoreError) -> (row: Int64?, CollectionRow, name: [UInt8]) {
        precondition(document.kind == .found || document.contents.bytes.isEmpty)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        return (try insert(ifNew: document, in: collection, name), collection, name)
    }

    private func fields(_ row: Int64) throws(StoreError) -> EncodedFields? {
        let statement = try connection.statement(.documentFields)
        defer { statement.release() }
        statement.bind(1, row)
        return try statement.step() ? EncodedFields(trusted: statement.blob(0)) : nil
    }

    /// The names of the documents that a statement finds.
    ///
    /// - Parameter sql: Selects the columns `collection` and `name` of `document`.
    package func paths(
        _ sql: String, _ arguments: [SQLValue]
    ) throws(StoreError) -> [DocumentPath] {
        let statement = try connection.statement(text: sql)
        defer { statement.release() }
        try statement.bind(arguments)
        var paths: [DocumentPath] = []
        while try statement.step() {
            let collection = try connection.catalog.collection(
                id: statement.integer(0), connection)
            guard let path = collection.document(named: statement.bytes(1)) else {
                throw .corrupt(detail: "a name in \(collection.path)")
            }
            paths.append(path)
        }
        return paths
    }
}
