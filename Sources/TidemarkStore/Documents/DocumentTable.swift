package import TidemarkModel

/// The documents of one database, inside a transaction.
package struct DocumentTable {
    package let database: DatabaseID
    package let transaction: StoreTransaction

    var connection: Connection { transaction.connection }
    private var rows: DocumentRows { DocumentRows(connection: connection) }
    private var entries: IndexEntries { IndexEntries(connection: connection) }

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

    /// Inserts or replaces a document and its index entries.
    package func put(_ document: StoredDocument) throws(StoreError) {
        precondition(document.kind == .found || document.contents.bytes.isEmpty)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        if let old = try rows.state(collection, name) {
            try rows.update(old.id, document: document, in: collection, name: name)
            try reindex(document, in: collection, name, id: old.id, from: old.fields)
        } else {
            let id = try rows.insert(document, in: collection, name)
            try reindex(document, in: collection, name, id: id, from: nil)
        }
    }

    /// Inserts or replaces a document whose row and fields the caller has read in this transaction;
    /// `old` is nil if there is none. Avoids reading and decoding them again.
    ///
    /// - Parameter fields: The decoded contents.
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
            try rows.update(id, document: document, in: collection, name: name)
        } else {
            id = try rows.insert(document, in: collection, name)
        }
        if !collection.group.isIndexed { return }
        let row = IndexedRow(id: id, collection: collection, name: name, path: document.path)
        try entries.replace(of: row, from: old?.fields, to: fields)
    }

    /// Removes a document that the caller has read in this transaction.
    package func remove(_ old: StoredRow, _ fields: MapValue) throws(StoreError) {
        try transaction.requireWriting()
        let path = old.document.path
        guard let collection = try collection(of: path) else { return }
        try rows.delete(old.id, path: path, in: collection, name: path.nameKey)
        if !collection.group.isIndexed { return }
        let row = IndexedRow(
            id: old.id, collection: collection, name: path.nameKey, path: path)
        try entries.replace(of: row, from: fields, to: MapValue?.none)
    }

    /// Removes a document. Does nothing if it does not exist.
    package func remove(_ path: DocumentPath) throws(StoreError) {
        try transaction.requireWriting()
        guard let collection = try collection(of: path) else { return }
        let name = path.nameKey
        guard let old = try rows.state(collection, name) else { return }
        try rows.delete(old.id, path: path, in: collection, name: name)
        guard let fields = old.fields, collection.group.isIndexed else { return }
        let row = IndexedRow(id: old.id, collection: collection, name: name, path: path)
        try entries.replace(of: row, from: fields, to: EncodedFields?.none)
    }

    /// Removes every document of the database. Indexes stay, without entries.
    package func removeAll() throws(StoreError) {
        try transaction.requireWriting()
        guard let id = try connection.catalog.database(database, connection) else { return }
        try connection.run(.clearEntries, id)
        try DeclaredWords(table: self).clear(id)
        try connection.run(.clearDocuments, id)
        try connection.run(.clearCollections, id)
        try connection.run(.resetProgress, id)
        connection.catalog.forget()
        connection.indexing.batch = nil
        connection.loseDocuments()
    }
}

// MARK: - Versions

extension DocumentTable {
    /// Returns the stored version of a document. Costs a lookup, but does not read the contents.
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

    /// Like ``put(_:)``, without the lookup.
    ///
    /// - Parameter held: The stored version, as read in this transaction; nil if there is none.
    /// - Returns: The row.
    package func put(
        _ document: StoredDocument, inPlaceOf held: HeldVersion?
    ) throws(StoreError) -> Int64 {
        precondition(document.kind == .found || document.contents.bytes.isEmpty)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        guard let held else {
            let row = try rows.insert(document, in: collection, name)
            try reindex(document, in: collection, name, id: row, from: nil)
            return row
        }
        var old: EncodedFields?
        if held.kind == .found, collection.group.isIndexed {
            old = try rows.fields(ofRow: held.row)
        }
        try rows.update(held.row, document: document, in: collection, name: name)
        try reindex(document, in: collection, name, id: held.row, from: old)
        return held.row
    }

    /// Inserts a document that is probably new. Costs one search, where a lookup and an insertion
    /// cost two.
    ///
    /// - Returns: The row; nil, without any change, if the document exists.
    package func insert(ifNew document: StoredDocument) throws(StoreError) -> Int64? {
        let (row, collection, name) = try insertRow(ifNew: document)
        if let row { try reindex(document, in: collection, name, id: row, from: nil) }
        return row
    }

    /// Inserts the document without its index entries.
    func insertRow(
        ifNew document: StoredDocument
    ) throws(StoreError) -> (row: Int64?, CollectionRow, name: [UInt8]) {
        precondition(document.kind == .found || document.contents.bytes.isEmpty)
        try transaction.requireWriting()
        let collection = try self.collection(making: document.path)
        let name = document.path.nameKey
        return (try rows.insert(ifNew: document, in: collection, name), collection, name)
    }

    private func reindex(
        _ document: StoredDocument, in collection: CollectionRow, _ name: [UInt8], id: Int64,
        from old: EncodedFields?
    ) throws(StoreError) {
        guard collection.group.isIndexed else { return }
        let new = document.kind == .found ? document.contents : nil
        if old == new { return }
        let row = IndexedRow(id: id, collection: collection, name: name, path: document.path)
        try entries.replace(of: row, from: old, to: new)
    }
}

// MARK: - Names

extension DocumentTable {
    /// Returns the paths of the documents that a statement finds.
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

    func collection(_ path: CollectionPath) throws(StoreError) -> CollectionRow? {
        guard let id = try connection.catalog.database(database, connection) else { return nil }
        return try connection.catalog.collection(path, in: id, connection)
    }

    /// Returns the collection of a document, if it holds or held any document.
    func collection(of path: DocumentPath) throws(StoreError) -> CollectionRow? {
        let catalog = connection.catalog
        guard let id = try catalog.database(database, connection) else { return nil }
        if let last = catalog.lastCollection(holding: path, in: id) { return last }
        return try catalog.collection(path.parent, in: id, connection)
    }

    /// Like ``collection(of:)``, but creates the collection if it does not exist.
    func collection(making path: DocumentPath) throws(StoreError) -> CollectionRow {
        let catalog = connection.catalog
        let id = try catalog.database(database, connection, creating: true)!
        if let last = catalog.lastCollection(holding: path, in: id) { return last }
        return try catalog.collection(path.parent, in: id, connection, creating: true)!
    }
}
