import TidemarkModel

/// A stored index and its filling progress.
struct FieldIndex: Equatable {
    let id: Int64
    let definition: IndexDefinition
    /// The text of the definition. Every query's plan contains it, and making it took a tenth of a
    /// small query's time.
    let sentence: String
    var isDeclared: Bool
    /// True if every document has its entries. Queries cannot use the index before.
    var isReady: Bool
    /// The collection and the name in it up to which an unfinished index is filled.
    var builtCollection: Int64
    var builtName: [UInt8]

    init(
        id: Int64, definition: IndexDefinition, isDeclared: Bool, isReady: Bool,
        builtCollection: Int64, builtName: [UInt8]
    ) {
        self.id = id
        self.definition = definition
        sentence = definition.sentence
        self.isDeclared = isDeclared
        self.isReady = isReady
        self.builtCollection = builtCollection
        self.builtName = builtName
    }

    /// Returns true if a document's entries belong in the index now. Otherwise the filling will
    /// reach the document later.
    func covers(_ collection: Int64, _ name: [UInt8]) -> Bool {
        if isReady || collection < builtCollection { return true }
        return collection == builtCollection && !KeyRange.precedes(builtName, name)
    }

    /// Returns the scope of entries: a collection, or 0 for all collections of a group.
    func scope(_ collection: CollectionRow) -> Int64 {
        definition.scope == .group ? 0 : collection.id
    }
}

extension FieldIndex {
    static func load(
        group: String, database: Int64, _ connection: Connection
    ) throws(StoreError) -> [FieldIndex] {
        let statement = try connection.statement(.indexesOfGroup)
        defer { statement.release() }
        statement.bind(1, database)
        statement.bind(2, group)
        var result: [FieldIndex] = []
        while try statement.step() {
            let id = statement.integer(0)
            let definition = IndexDefinition(
                collectionID: group, scope: statement.integer(1) == 0 ? .collection : .group,
                fields: try fields(of: id, connection),
                name: statement.integer(2) == 0 ? .ascending : .descending)
            result.append(
                FieldIndex(
                    id: id, definition: definition, isDeclared: statement.integer(3) != 0,
                    isReady: statement.integer(4) != 0, builtCollection: statement.integer(5),
                    builtName: statement.blob(6)))
        }
        return result
    }

    private static func fields(
        of index: Int64, _ connection: Connection
    ) throws(StoreError) -> [IndexDefinition.Field] {
        let statement = try connection.statement(.indexFields)
        defer { statement.release() }
        statement.bind(1, index)
        var fields: [IndexDefinition.Field] = []
        while try statement.step() {
            let path: FieldPath
            do throws(InvalidPath) { path = try FieldPath(encoded: statement.text(0)) } catch {
                throw .corrupt(detail: error.message)
            }
            guard let kind = IndexDefinition.Field.Kind(rawValue: statement.integer(1)),
                !path.isDocumentID
            else { throw .corrupt(detail: "a field of index \(index)") }
            fields.append(IndexDefinition.Field(path, kind))
        }
        return fields
    }

    static func insert(
        _ definition: IndexDefinition, database: Int64, isDeclared: Bool, _ connection: Connection
    ) throws(StoreError) -> FieldIndex {
        let statement = try connection.statement(.insertIndex)
        defer { statement.release() }
        statement.bind(1, database)
        statement.bind(2, definition.collectionID)
        statement.bind(3, definition.scope == .group ? 1 : 0)
        statement.bind(4, definition.name == .descending ? 1 : 0)
        statement.bind(5, isDeclared ? 1 : 0)
        try statement.run()
        let id = connection.lastInsertedRowID
        let insert = try connection.statement(.insertIndexField)
        defer { insert.release() }
        for (position, field) in definition.fields.enumerated() {
            insert.bind(1, id)
            insert.bind(2, position)
            insert.bind(3, field.path.encoded)
            insert.bind(4, field.kind.rawValue)
            try insert.run()
        }
        return FieldIndex(
            id: id, definition: definition, isDeclared: isDeclared, isReady: false,
            builtCollection: 0, builtName: [])
    }

    func saveProgress(_ connection: Connection) throws(StoreError) {
        let statement = try connection.statement(.updateIndexProgress)
        defer { statement.release() }
        statement.bind(1, isDeclared ? 1 : 0)
        statement.bind(2, isReady ? 1 : 0)
        statement.bind(3, builtCollection)
        statement.bind(4, builtName)
        statement.bind(5, id)
        try statement.run()
    }

    /// Deletes the index with its entries.
    func delete(_ connection: Connection) throws(StoreError) {
        try connection.run(.deleteEntriesOfIndex, id)
        try connection.run(.deleteIndexFields, id)
        try connection.run(.deleteIndex, id)
    }
}
