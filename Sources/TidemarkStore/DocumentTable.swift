package import TidemarkModel

/// The documents of one database, inside a transaction.
package struct DocumentTable {
    let database: DatabaseID
    let transaction: StoreTransaction

    package func document(at path: DocumentPath) throws(StoreError) -> StoredDocument? {
        try transaction.rows(
            Self.select + "WHERE database = ? AND path = ?",
            [.text(database.name), .text(path.text)]
        ).first.map(Self.document)
    }

    /// Inserts or replaces, index entries included.
    package func put(_ document: StoredDocument) throws(StoreError) {
        try transaction.execute(
            "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .text(database.name), .text(document.path.text), .integer(document.kind.rawValue),
                .blob(document.contents.bytes), .integer(document.createTime.microseconds),
                .integer(document.updateTime.microseconds),
                .integer(document.readTime.microseconds),
                .integer(document.hasCommittedMutations ? 1 : 0),
            ])
    }

    /// Forgets the document. Removing one that is not there does nothing.
    package func remove(_ path: DocumentPath) throws(StoreError) {
        try transaction.execute(
            "DELETE FROM document WHERE database = ? AND path = ?",
            [.text(database.name), .text(path.text)])
    }

    /// The query's rows in its order, offset and limit applied, projection not.
    package func run(_ query: Query) throws(StoreError) -> QueryRun {
        var documents: [StoredDocument] = []
        let stats = try run(query) {
            documents.append($0); return true
        }
        return QueryRun(documents: documents, stats: stats)
    }

    /// Hands out the query's rows one by one until `body` returns false.
    @discardableResult
    package func run(
        _ query: Query, _ body: (StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        let all = try transaction.rows(
            Self.select + "WHERE database = ? AND kind = 0", [.text(database.name)]
        ).map(Self.document)
        var matching: [(document: StoredDocument, fields: MapValue)] = []
        for document in all {
            let fields = document.contents.decoded
            if query.matches(document.path, fields, in: database) {
                matching.append((document, fields))
            }
        }
        matching.sort {
            query.compare(
                ($0.document.path, $0.fields), ($1.document.path, $1.fields), in: database)
                == .ascending
        }
        var rows = matching.dropFirst(query.offset)
        switch query.limit {
        case .first(let count)?: rows = rows.prefix(count)
        case .last(let count)?: rows = rows.suffix(count)
        case nil: break
        }
        var returned = 0
        for row in rows {
            returned += 1
            if !body(row.document) { break }
        }
        return QueryStats(
            plan: "scan of all documents", rowsScanned: all.count, rowsReturned: returned,
            rowsSkipped: min(query.offset, matching.count))
    }

    /// How many rows the query has, counted no further than `upTo`.
    package func count(_ query: Query, upTo: Int64? = nil) throws(StoreError) -> QueryCount {
        var count: Int64 = 0
        let stats = try run(query) { _ in
            count += 1
            return upTo.map { count < $0 } ?? true
        }
        return QueryCount(count: count, entriesScanned: stats.rowsScanned)
    }

    /// What ``run(_:)`` would do, in a sentence, without doing it.
    package func explain(_ query: Query) throws(StoreError) -> String { "scan of all documents" }

    /// The ids of the collections directly below a document, or at the root, that hold documents at
    /// any depth; sorted.
    package func collectionIDs(below parent: DocumentPath?) throws(StoreError) -> [String] {
        let prefix = parent.map { $0.text + "/" } ?? ""
        var ids: Set<String> = []
        for row in try transaction.rows(
            "SELECT path FROM document WHERE database = ? AND kind = 0", [.text(database.name)])
        where row.text(0).utf8.starts(with: prefix.utf8) {
            let rest = row.text(0).utf8.dropFirst(prefix.utf8.count)
            ids.insert(String(Substring(rest.prefix { $0 != UInt8(ascii: "/") })))
        }
        return ids.sorted { $0.precedesInBytes($1) }
    }

    /// The ids directly inside a collection, those of missing documents with descendants too, in
    /// name order, after `after`, at most `limit`.
    package func documentIDs(
        in collection: CollectionPath, includingMissing: Bool, after: String?, limit: Int
    ) throws(StoreError) -> [String] {
        let prefix = collection.text + "/"
        var ids: Set<String> = []
        for row in try transaction.rows(
            "SELECT path FROM document WHERE database = ? AND kind = 0", [.text(database.name)])
        where row.text(0).utf8.starts(with: prefix.utf8) {
            let rest = row.text(0).utf8.dropFirst(prefix.utf8.count)
            let id = rest.prefix { $0 != UInt8(ascii: "/") }
            if includingMissing || id.count == rest.count { ids.insert(String(Substring(id))) }
        }
        let sorted = ids.map { DocumentPath(unchecked: prefix + $0) }.sorted().map(\.id)
        let rest =
            after.map { mark in
                sorted.drop {
                    DocumentPath.compare(
                        DocumentPath(unchecked: prefix + $0), DocumentPath(unchecked: prefix + mark)
                    )
                        != .descending
                }
            } ?? sorted[...]
        return Array(rest.prefix(limit))
    }

    /// Removes every document of the database.
    package func removeAll() throws(StoreError) {
        try transaction.execute("DELETE FROM document WHERE database = ?", [.text(database.name)])
    }

    private static let select = """
        SELECT path, kind, fields, createTime, updateTime, readTime, committed FROM document

        """

    private static func document(_ row: SQLRow) -> StoredDocument {
        StoredDocument(
            path: DocumentPath(unchecked: row.text(0)), kind: .init(rawValue: row.integer(1))!,
            contents: EncodedFields(trusted: row.blob(2)),
            createTime: Timestamp(microseconds: row.integer(3)),
            updateTime: Timestamp(microseconds: row.integer(4)),
            readTime: Timestamp(microseconds: row.integer(5)),
            hasCommittedMutations: row.integer(6) != 0)
    }
}

/// The rows of a query and what it took to find them.
package struct QueryRun: Sendable {
    package let documents: [StoredDocument]
    package let stats: QueryStats
}

package struct QueryStats: Hashable, Sendable {
    /// In a sentence.
    package let plan: String
    /// Index entries or documents looked at.
    package let rowsScanned: Int
    package let rowsReturned: Int
    /// Passed over for the query's offset.
    package let rowsSkipped: Int
}

package struct QueryCount: Hashable, Sendable {
    package let count: Int64
    /// What an aggregation is billed by.
    package let entriesScanned: Int
}
