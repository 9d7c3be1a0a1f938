import TidemarkModel

/// A cache of the small tables: the numbers of databases and collections, and the indexes of
/// collection groups. Cleared when a transaction is rolled back.
final class Catalog {
    /// The databases used lately. Usually there is one.
    private var databases: [(id: DatabaseID, number: Int64)] = []
    private var groups: [String: CollectionGroup] = [:]
    /// The collection of the last row that was read. Most rows belong to the same collection.
    private var lastCollection: CollectionRow?
    private var collectionsByPath: [String: CollectionRow] = [:]
    /// The collections named by rows of other tables.
    private var collectionsByID: [Int: CollectionRow] = [:]
    /// The number of times that an entry was dropped.
    private var generation = 0

    /// The data from which a plan is made. An unchanged basis means an unchanged plan.
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

    /// The maximum sizes. Beyond them, the cache is cleared and filled again as it is used.
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

    /// Returns the key of a collection by its path, or of a group by the id of its collections. The
    /// key is a text because the first use of another type as the key of a dictionary takes 0.1 ms
    /// of an app's start. Keys are unique because no path has an empty segment.
    private static func key(_ database: Int64, _ path: String) -> String {
        if path.utf8.allSatisfy({ $0 < 0x80 }) { return "\(database)//\(path)" }
        // Swift compares texts that differ only in how an accent is composed as equal. Such texts
        // name two collections, so the key contains their bytes.
        let digits = path.utf8.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }
        return "\(database)///" + digits.joined()
    }
}

/// The collections of a database with the same id, and the indexes over them.
final class CollectionGroup {
    let database: Int64
    let id: String
    /// The indexes, in the order of their creation.
    var indexes: [FieldIndex] { didSet { changes += 1 } }
    /// The number of changes of the indexes.
    private(set) var changes = 0
    /// The index of words, if there is one. No plan of a query depends on it.
    var words: WordIndex?

    /// True if a change of a document can change entries or words.
    var isIndexed: Bool { !indexes.isEmpty || words != nil }

    init(database: Int64, id: String, indexes: [FieldIndex], words: WordIndex?) {
        self.words = words
        self.database = database
        self.id = id
        self.indexes = indexes
    }
}

/// A collection that holds or held documents.
final class CollectionRow {
    let id: Int64
    let path: CollectionPath
    let group: CollectionGroup
    /// The segments of the path, as ``KeyWriter`` writes them.
    let key: [UInt8]
    /// The UTF-8 prefix of the paths of the collection's documents, from which the path of every
    /// row is made.
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

    /// Returns true if a document lies directly in the collection.
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

    /// Returns the path of a document from its encoded name; nil if the name is invalid.
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
    /// Returns the number of a database; nil if nothing was ever stored in it.
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
            indexes: try FieldIndex.load(group: id, database: database, connection),
            words: try WordIndex.load(group: id, database: database, connection))
        groups[key] = group
        return group
    }

    /// Returns the collection of a document if it is that of the previous row, which avoids
    /// splitting the path.
    func lastCollection(holding path: DocumentPath, in database: Int64) -> CollectionRow? {
        guard let lastCollection, lastCollection.group.database == database,
            lastCollection.holds(path)
        else { return nil }
        return lastCollection
    }

    /// - Returns: The collection; nil if nothing was ever stored in it and `creating` is false.
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
        // The documents of the collection are read next, and their rows name the collection by
        // number.
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

    /// Returns the collection that a row of another table names.
    func collection(id: Int64, _ connection: Connection) throws(StoreError) -> CollectionRow {
        if let lastCollection, lastCollection.id == id { return lastCollection }
        // With a 32-bit `Int`, a damaged file can cause a collision.
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
