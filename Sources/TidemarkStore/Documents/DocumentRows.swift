import TidemarkModel

/// Writes the rows of documents and notifies the connection's watches. ``IndexEntries`` handles
/// index entries.
struct DocumentRows {
    let connection: Connection

    /// Returns the row stored under a name, with its fields only if the fields have index entries.
    func state(
        _ collection: CollectionRow, _ name: [UInt8]
    ) throws(StoreError) -> (id: Int64, fields: EncodedFields?)? {
        let statement = try connection.statement(.documentState)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, name)
        guard try statement.step() else { return nil }
        let isIndexed =
            collection.group.isIndexed
            && statement.integer(1) == StoredDocument.Kind.found.rawValue
        return (
            statement.integer(0),
            isIndexed ? EncodedFields(trusted: statement.blob(2)) : nil
        )
    }

    func insert(
        _ document: StoredDocument, in collection: CollectionRow, _ name: [UInt8]
    ) throws(StoreError) -> Int64 {
        try insert(document, in: collection, name, by: .insertDocument)
        return inserted(document, in: collection, name)
    }

    func insert(
        ifNew document: StoredDocument, in collection: CollectionRow, _ name: [UInt8]
    ) throws(StoreError) -> Int64? {
        try insert(document, in: collection, name, by: .insertNewDocument)
        return connection.hasChangedRows ? inserted(document, in: collection, name) : nil
    }

    private func inserted(
        _ document: StoredDocument, in collection: CollectionRow, _ name: [UInt8]
    ) -> Int64 {
        let id = connection.lastInsertedRowID
        if connection.isObserved {
            connection.haveInserted(id, change(to: document, in: collection, name))
        }
        return id
    }

    private func change(
        to document: StoredDocument, in collection: CollectionRow, _ name: [UInt8]
    ) -> DocumentChange {
        DocumentChange(
            collection: collection, name: name, path: document.path,
            contents: document.kind == .found ? document.contents : nil)
    }

    func delete(
        _ id: Int64, path: DocumentPath, in collection: CollectionRow, name: [UInt8]
    ) throws(StoreError) {
        if connection.isObserved {
            try connection.willChange(
                id,
                DocumentChange(collection: collection, name: name, path: path, contents: nil))
        }
        try connection.run(.deleteDocument, id)
    }

    private func insert(
        _ document: StoredDocument, in collection: CollectionRow, _ name: [UInt8], by sql: OwnSQL
    ) throws(StoreError) {
        let statement = try connection.statement(sql)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, name)
        try run(statement, with: document, from: 3)
    }

    func update(
        _ id: Int64, document: StoredDocument, in collection: CollectionRow, name: [UInt8]
    ) throws(StoreError) {
        if connection.isObserved {
            try connection.willChange(id, change(to: document, in: collection, name))
        }
        let statement = try connection.statement(.updateDocument)
        defer { statement.release() }
        statement.bind(7, id)
        try run(statement, with: document, from: 1)
    }

    private func run(
        _ statement: PreparedStatement, with document: StoredDocument, from index: Int32
    ) throws(StoreError) {
        statement.bind(index, document.kind.rawValue)
        statement.bind(index + 2, document.createTime.microseconds)
        statement.bind(index + 3, document.updateTime.microseconds)
        statement.bind(index + 4, document.readTime.microseconds)
        statement.bind(index + 5, document.hasCommittedMutations ? 1 : 0)
        try statement.run(index + 1, document.contents.bytes)
    }

    /// Returns the fields of a row; nil if it does not exist.
    func fields(ofRow row: Int64) throws(StoreError) -> EncodedFields? {
        let statement = try connection.statement(.documentFields)
        defer { statement.release() }
        statement.bind(1, row)
        return try statement.step() ? EncodedFields(trusted: statement.blob(0)) : nil
    }
}
