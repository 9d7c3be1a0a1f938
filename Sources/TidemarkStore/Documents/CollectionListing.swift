import TidemarkModel

// Names are found by skipping from one to the next, without visiting every document below.

/// Lists the ids of collections and documents.
struct CollectionListing {
    let table: DocumentTable

    private var connection: Connection { table.connection }

    /// Returns the ids of the collections directly below a document, or at the root, that contain
    /// documents at any depth. Sorted by bytes.
    func collectionIDs(below parent: DocumentPath?) throws(StoreError) -> [String] {
        guard let database = try connection.catalog.database(table.database, connection) else {
            return []
        }
        var writer = KeyWriter()
        if let parent { writer.appendSegments(of: parent.text) }
        var walk = ChildWalk(database: database, prefix: writer.bytes, after: nil)
        var ids: [String] = []
        while let child = try walk.next(connection) {
            if try walk.isLive(child.key, connection) { ids.append(child.id) }
        }
        return ids.sorted { $0.precedesInBytes($1) }
    }

    /// Returns at most `limit` ids directly inside a collection after `after`, in name order;
    /// optionally with missing documents that have descendants.
    func documentIDs(
        in collection: CollectionPath, includingMissing: Bool, after: String?, limit: Int
    ) throws(StoreError) -> [String] {
        guard limit > 0 else { return [] }
        let mark = after.map { DocumentPath(unchecked: collection.text + "/" + $0).nameKey }
        let found = try foundNames(in: collection, after: mark, limit: limit)
        if !includingMissing { return found.prefix(limit).map(\.id) }
        guard let database = try connection.catalog.database(table.database, connection) else {
            return []
        }
        var writer = KeyWriter()
        writer.appendSegments(of: collection.text)
        var walk = ChildWalk(database: database, prefix: writer.bytes, after: mark)
        return try merge(found, &walk, limit: limit)
    }

    private func foundNames(
        in collection: CollectionPath, after mark: [UInt8]?, limit: Int
    ) throws(StoreError) -> [(id: String, key: [UInt8])] {
        guard let row = try table.collection(collection) else { return [] }
        let statement = try connection.statement(.nameIDs)
        defer { statement.release() }
        statement.bind(1, row.id)
        statement.bind(2, mark.map { Cut.after($0).position } ?? [])
        statement.bind(3, Cut.top)
        var result: [(id: String, key: [UInt8])] = []
        while result.count < limit, try statement.step() {
            guard let name = KeyWriter.segment(in: statement.bytes(0)) else {
                throw .corrupt(detail: "a name in \(collection)")
            }
            result.append((name.id, statement.blob(0)))
        }
        return result
    }

    /// Merges two lists in name order, without duplicates.
    private func merge(
        _ found: [(id: String, key: [UInt8])], _ walk: inout ChildWalk, limit: Int
    ) throws(StoreError) -> [String] {
        var ids: [String] = []
        var rest = found[...]
        var child = try walk.nextLive(connection)
        while ids.count < limit {
            guard let next = child else {
                ids += rest.prefix(limit - ids.count).map(\.id)
                break
            }
            if let first = rest.first, !KeyRange.precedes(next.key, first.key) {
                ids.append(first.id)
                rest.removeFirst()
                if first.key == next.key { child = try walk.nextLive(connection) }
            } else {
                ids.append(next.id)
                child = try walk.nextLive(connection)
            }
        }
        return ids
    }
}

/// Iterates over the segments that follow a prefix in the paths of collections.
private struct ChildWalk {
    let database: Int64
    let prefix: [UInt8]
    private var range: KeyRange

    init(database: Int64, prefix: [UInt8], after mark: [UInt8]?) {
        self.database = database
        self.prefix = prefix
        range = KeyRange(
            from: mark.map { .after(prefix + $0) } ?? .before(prefix), to: .after(prefix))
        // Without a prefix everything follows. With a prefix, the collection itself does not.
        if mark == nil, !prefix.isEmpty { range.lower = prefix + [0] }
    }

    /// Returns the next segment, with its key relative to the prefix.
    mutating func next(
        _ connection: Connection
    ) throws(StoreError) -> (id: String, key: [UInt8])? {
        let statement = try connection.statement(.nextCollectionKey)
        defer { statement.release() }
        statement.bind(1, database)
        statement.bind(2, range.lower)
        statement.bind(3, range.upper)
        guard try statement.step() else { return nil }
        let key = statement.bytes(0)
        let rest = UnsafeRawBufferPointer(rebasing: key[prefix.count...])
        guard let segment = KeyWriter.segment(in: rest) else {
            throw .corrupt(detail: "a collection's key")
        }
        let own = Array(rest[..<segment.end])
        range.lower = Cut.after(prefix + own).position
        return (segment.id, own)
    }

    mutating func nextLive(
        _ connection: Connection
    ) throws(StoreError) -> (id: String, key: [UInt8])? {
        while let child = try next(connection) {
            if try isLive(child.key, connection) { return child }
        }
        return nil
    }

    /// Returns true if a document exists anywhere below the segment.
    func isLive(_ key: [UInt8], _ connection: Connection) throws(StoreError) -> Bool {
        let below = KeyRange(prefix: prefix + key)
        let statement = try connection.statement(.firstLiveCollection)
        defer { statement.release() }
        statement.bind(1, database)
        statement.bind(2, below.lower)
        statement.bind(3, below.upper)
        return try statement.step()
    }
}
