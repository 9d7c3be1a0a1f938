import TidemarkModel

/// What is remembered of the small tables: which number a database or a collection has, and which
/// indexes a group of collections has. Forgotten when a transaction is undone.
final class Catalog {
    /// Lately used. Few: mostly there is one.
    private var databases: [(id: DatabaseID, number: Int64)] = []
    private var groups: [String: CollectionGroup] = [:]
    /// The one of the last row that was read: most are of the same.
    private var lastCollection: CollectionRow?
    private var collectionsByPath: [String: CollectionRow] = [:]
    /// Those that rows of other tables have named.
    private var collectionsByID: [Int: CollectionRow] = [:]
    /// How often something was forgotten.
    private var generation = 0

    /// What a plan is made from: while it is the same, so is the plan.
    struct Basis {
        fileprivate let generation: Int
        fileprivate let group: CollectionGroup?
        fileprivate let indexes: Int?
    }

    func basis(_ group: CollectionGroup?) -> Basis {
        Basis(generation: generation, group: group, indexes: group?.changes)
    }

    func stillHas(_ basis: Basis) -> Bool {
        basis.generation == generation && basis.indexes == basis.group?.changes
    }

    /// Past these, what is remembered is dropped and looked up again as it is used.
    private static let maxDatabases = 16, maxCollections = 10_000

    func forget() {
        databases = []
        groups = [:]
        forgetCollections()
    }

    func forgetCollections() {
        generation += 1
        collectionsByID = [:]
        collectionsByPath = [:]
        lastCollection = nil
    }

    /// Of a collection, or of a group by the id of its collections. A text, as others are: an app's start
    /// pays 0.1 ms for every type that is a dictionary's key for the first time. No path has an empty
    /// segment.
    private static func key(_ database: Int64, _ path: String) -> String { "\(database)//\(path)" }
}

/// The collections of one database that have the same id, and the indexes over them.
final class CollectionGroup {
    let database: Int64
    let id: String
    /// In the order they were made.
    var indexes: [FieldIndex] { didSet { changes += 1 } }
    /// How often the indexes were touched.
    private(set) var changes = 0

    init(database: Int64, id: String, indexes: [FieldIndex]) {
        self.database = database
        self.id = id
        self.indexes = indexes
    }
}

/// One collection that holds, or held, documents.
final class CollectionRow {
    let id: Int64
    let path: CollectionPath
    let group: CollectionGroup
    /// The segments of the path, as ``KeyWriter`` writes them.
    let key: [UInt8]
    /// What the paths of its documents begin with, in UTF-8: the name of every row that is read is made
    /// with it.
    private let pathPrefix: [UInt8]

    init(id: Int64, path: CollectionPath, group: CollectionGroup) {
        self.id = id
        self.path = path
        self.group = group
        var writer = KeyWriter()
        writer.appendSegments(of: path.text)
        key = writer.bytes
        pathPrefix = Array(path.text.utf8) + [UInt8(ascii: "/")]
    }

    /// Whether a document lies directly in it.
    func holds(_ path: DocumentPath) -> Bool {
        var text = path.text
        return text.withUTF8 { bytes in
            let count = pathPrefix.count
            guard bytes.count > count else { return false }
            let start = UnsafeBufferPointer(rebasing: bytes[..<count])
            let isBelow = pathPrefix.withUnsafeBufferPointer {
                Comparison.bytes(start, $0) == .equal
            }
            return isBelow && !bytes[count...].contains(UInt8(ascii: "/"))
        }
    }

    /// The path of a document by its name as ``KeyWriter`` wrote it; nil when it is none.
    func document(named name: UnsafeRawBufferPointer) -> DocumentPath? {
        guard let id = KeyWriter.plainText(in: name) else {
            return KeyWriter.segment(in: name).map {
                DocumentPath(unchecked: "\(path.text)/\($0.id)")
            }
        }
        let count = pathPrefix.count + id.count
        let text = String(unsafeUninitializedCapacity: count) { buffer in
            _ = buffer.update(fromContentsOf: pathPrefix)
            _ = buffer[pathPrefix.count...].update(fromContentsOf: id)
            return count
        }
        return DocumentPath(unchecked: text)
    }
}

extension Catalog {
    /// The number of a database; nil when nothing was ever stored in it.
    func database(
        _ database: DatabaseID, _ connection: Connection, creating: Bool = false
    ) throws(StoreError) -> Int64? {
        if let known = databases.first(where: { $0.id == database }) { return known.number }
        let select = try connection.statement(.databaseByName)
        defer { select.release() }
        select.bind(1, database.name)
        let number: Int64
        if try select.step() {
            number = select.integer(0)
        } else if creating {
            let insert = try connection.statement(.insertDatabase)
            defer { insert.release() }
            insert.bind(1, database.name)
            try insert.run()
            number = connection.lastInsertedRowID
        } else {
            return nil
        }
        if databases.count >= Self.maxDatabases { databases = [] }
        databases.append((database, number))
        return number
    }

    func group(
        _ id: String, in database: Int64, _ connection: Connection
    ) throws(StoreError) -> CollectionGroup {
        let key = Self.key(database, id)
        if let group = groups[key] { return group }
        if groups.count >= Self.maxCollections {
            groups = [:]
            forgetCollections()
        }
        let group = CollectionGroup(
            database: database, id: id,
            indexes: try FieldIndex.load(group: id, database: database, connection))
        groups[key] = group
        return group
    }

    /// The collection of a document, where it is that of the row before: its path is not taken apart then.
    func lastCollection(holding path: DocumentPath, in database: Int64) -> CollectionRow? {
        guard let lastCollection, lastCollection.group.database == database,
            lastCollection.holds(path)
        else { return nil }
        return lastCollection
    }

    /// - Returns: Nil when nothing was ever stored in the collection and it is not to be created.
    func collection(
        _ path: CollectionPath, in database: Int64, _ connection: Connection,
        creating: Bool = false
    ) throws(StoreError) -> CollectionRow? {
        if let lastCollection, lastCollection.path == path,
            lastCollection.group.database == database
        {
            return lastCollection
        }
        let key = Self.key(database, path.text)
        if let row = collectionsByPath[key] {
            lastCollection = row
            return row
        }
        var writer = KeyWriter()
        writer.appendSegments(of: path.text)
        let select = try connection.statement(.collectionByKey)
        defer { select.release() }
        select.bind(1, database)
        select.bind(2, writer.bytes)
        let id: Int64
        if try select.step() {
            id = select.integer(0)
        } else if creating {
            id = try insert(path, key: writer.bytes, in: database, connection)
        } else {
            return nil
        }
        let row = CollectionRow(
            id: id, path: path, group: try group(path.id, in: database, connection))
        if collectionsByPath.count >= Self.maxCollections { forgetCollections() }
        collectionsByPath[key] = row
        // Its documents are read next: their rows name it by its number.
        lastCollection = row
        return row
    }

    private func insert(
        _ path: CollectionPath, key: [UInt8], in database: Int64, _ connection: Connection
    ) throws(StoreError) -> Int64 {
        let insert = try connection.statement(.insertCollection)
        defer { insert.release() }
        insert.bind(1, database)
        insert.bind(2, key)
        insert.bind(3, path.text)
        insert.bind(4, path.id)
        try insert.run()
        return connection.lastInsertedRowID
    }

    /// The collection that a row of another table names.
    func collection(id: Int64, _ connection: Connection) throws(StoreError) -> CollectionRow {
        if let lastCollection, lastCollection.id == id { return lastCollection }
        // Where an `Int` is short, a damaged file may name another.
        if let row = collectionsByID[Int(truncatingIfNeeded: id)], row.id == id {
            lastCollection = row
            return row
        }
        let select = try connection.statement(.collectionByID)
        defer { select.release() }
        select.bind(1, id)
        guard try select.step() else { throw .corrupt(detail: "no collection \(id)") }
        let path = CollectionPath(unchecked: select.text(1))
        let row = CollectionRow(
            id: id, path: path, group: try group(path.id, in: select.integer(0), connection))
        if collectionsByID.count >= Self.maxCollections { forgetCollections() }
        collectionsByID[Int(truncatingIfNeeded: id)] = row
        lastCollection = row
        return row
    }
}
