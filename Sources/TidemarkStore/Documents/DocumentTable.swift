package import TidemarkModel

/// The documents of one database, inside a transaction.
package struct DocumentTable {
    package let database: DatabaseID
    package let transaction: StoreTransaction

    var connection: Connection { transaction.connection }

    package func document(at path: DocumentPath) throws(StoreError) -> StoredDocument? {
        try row(at: path)?.document
    }

    package func row(at path: DocumentPath) throws(StoreError) -> StoredRow? {
        guard let collection = try collection(of: path) else { return nil }
        let statement = try connection.statement(.document)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, path.nameKey)
        return try statement.step() ? connection.row(statement) : nil
    }

    /// Inserts or replaces, index entries included.
    package func put(_ document: StoredDocument) throws(StoreError) {
        precondition(document.kind == .found || document.contents.bytes.isEmpty)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        if let old = try state(collection, name) {
            try update(old.id, document, in: collection, name)
            try reindex(document, in: collection, name, id: old.id, from: old.fields)
        } else {
            let id = try insert(document, in: collection, name)
            try reindex(document, in: collection, name, id: id, from: nil)
        }
    }

    /// Inserts or replaces a document whose present row and fields its caller has read in this
    /// transaction, nil where there is none: neither is looked up or decoded again.
    ///
    /// - Parameter fields: The contents, decoded.
    package func put(
        _ document: StoredDocument, _ fields: MapValue,
        replacing old: (row: StoredRow, fields: MapValue)?
    ) throws(StoreError) {
        precondition(document.kind == .found)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        let id: Int64
        if let old {
            id = old.row.id
            try update(id, document, in: collection, name)
        } else {
            id = try insert(document, in: collection, name)
        }
        if collection.group.indexes.isEmpty { return }
        let row = IndexedRow(id: id, collection: collection, name: name, path: document.path)
        try connection.replaceEntries(of: row, from: old?.fields, to: fields)
    }

    /// Forgets a document that its caller has read in this transaction.
    package func remove(_ old: StoredRow, _ fields: MapValue) throws(StoreError) {
        try transaction.requireWriting()
        let path = old.document.path
        guard let collection = try collection(of: path) else { return }
        try delete(old.id, path, in: collection, path.nameKey)
        if collection.group.indexes.isEmpty { return }
        let row = IndexedRow(
            id: old.id, collection: collection, name: path.nameKey, path: path)
        try connection.replaceEntries(of: row, from: fields, to: MapValue?.none)
    }

    /// Forgets the document. Removing one that is not there does nothing.
    package func remove(_ path: DocumentPath) throws(StoreError) {
        try transaction.requireWriting()
        guard let collection = try collection(of: path) else { return }
        let name = path.nameKey
        guard let old = try state(collection, name) else { return }
        try delete(old.id, path, in: collection, name)
        guard let fields = old.fields, !collection.group.indexes.isEmpty else { return }
        let row = IndexedRow(id: old.id, collection: collection, name: name, path: path)
        try connection.replaceEntries(of: row, from: fields, to: EncodedFields?.none)
    }

    /// Removes every document of the database. Indexes stay, empty.
    package func removeAll() throws(StoreError) {
        try transaction.requireWriting()
        guard let id = try connection.catalog.database(database, connection) else { return }
        try connection.run(.clearEntries, id)
        try connection.run(.clearDocuments, id)
        try connection.run(.clearCollections, id)
        try connection.run(.resetProgress, id)
        connection.catalog.forget()
        connection.indexing.batch = nil
        connection.loseDocuments()
    }

    func collection(_ path: CollectionPath) throws(StoreError) -> CollectionRow? {
        guard let id = try connection.catalog.database(database, connection) else { return nil }
        return try connection.catalog.collection(path, in: id, connection)
    }

    /// The collection that holds a document, if it holds or held any.
    func collection(of path: DocumentPath) throws(StoreError) -> CollectionRow? {
        let catalog = connection.catalog
        guard let id = try catalog.database(database, connection) else { return nil }
        if let last = catalog.lastCollection(holding: path, in: id) { return last }
        return try catalog.collection(path.parent, in: id, connection)
    }

    /// As ``collection(of:)``, and made where nothing was ever stored in it.
    func collection(making path: DocumentPath) throws(StoreError) -> CollectionRow {
        let catalog = connection.catalog
        let id = try catalog.database(database, connection, creating: true)!
        if let last = catalog.lastCollection(holding: path, in: id) { return last }
        return try catalog.collection(path.parent, in: id, connection, creating: true)!
    }
}

// MARK: - Rows

extension DocumentTable {
    /// What is stored under a name now; its fields only where they have index entries.
    private func state(
        _ collection: CollectionRow, _ name: [UInt8]
    ) throws(StoreError) -> (id: Int64, fields: EncodedFields?)? {
        let statement = try connection.statement(.documentState)
        defer { statement.release() }
        statement.bind(1, collection.id)
        statement.bind(2, name)
        guard try statement.step() else { return nil }
        let isIndexed =
            !collection.group.indexes.isEmpty
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

    private func delete(
        _ id: Int64, _ path: DocumentPath, in collection: CollectionRow, _ name: [UInt8]
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
        _ id: Int64, _ document: StoredDocument, in collection: CollectionRow, _ name: [UInt8]
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

    func reindex(
        _ document: StoredDocument, in collection: CollectionRow, _ name: [UInt8], id: Int64,
        from old: EncodedFields?
    ) throws(StoreError) {
        guard !collection.group.indexes.isEmpty else { return }
        let new = document.kind == .found ? document.contents : nil
        if old == new { return }
        let row = IndexedRow(id: id, collection: collection, name: name, path: document.path)
        try connection.replaceEntries(of: row, from: old, to: new)
    }
}
