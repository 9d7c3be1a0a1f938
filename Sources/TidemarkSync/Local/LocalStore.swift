import TidemarkModel
import TidemarkStore

/// The mediator of everything kept on this device: documents, targets and their rows, the mutation
/// queue, records. Confined to the engine's executor; every operation is one transaction, and what
/// is kept in memory follows only once that is through.
final class LocalStore {
    let database: DatabaseID
    let store: DocumentStore
    var pending = PendingWrites()
    /// Of the stream on which the head of the queue was sent, if it was. As it is on disk.
    var writePosition: WritePosition?
    /// Those in use, by id, with the newest token; the disk may have an older one.
    var targets: [Int32: LocalTarget] = [:]
    /// As they are on disk.
    var persisted: [Int32: LocalTarget] = [:]
    var nextTargetID: Int32 = 2
    var nextSequence: Int64 = 1
    /// Of the last consistent snapshot; never goes back.
    var lastVersion = Timestamp.epoch

    init(_ location: DocumentStore.Location, database: DatabaseID) throws {
        self.database = database
        store = try DocumentStore(
            location, migrations: LocalSchema.migrations, indexBuilding: .onRequest)
        try store.read { transaction in
            try loadGlobals(transaction)
            try loadQueue(transaction)
            writePosition = try storedWritePosition(transaction)
        }
    }

    /// Writes the newest tokens and ends the use of the file.
    func close() throws {
        let unsaved = targets.values.filter { persisted[$0.id] != $0 }
        if !unsaved.isEmpty {
            try store.write { for target in unsaved { try save(target, $0) } }
        }
        try store.close()
    }

    private func loadGlobals(_ transaction: StoreTransaction) throws {
        for row in try transaction.rows("SELECT name, value FROM syncGlobal")
        where row.text(0) == "lastVersion" {
            lastVersion = Timestamp(microseconds: row.integer(1))
        }
        let row = try transaction.rows(
            "SELECT COALESCE(MAX(id), 0), COALESCE(MAX(sequence), 0) FROM syncTarget")[0]
        nextTargetID = Int32(clamping: row.integer(0)) + 2
        nextSequence = row.integer(1) + 1
    }

    private func loadQueue(_ transaction: StoreTransaction) throws {
        for row in try transaction.rows(
            "SELECT id, localWriteTime, baseMutations, mutations FROM syncBatch ORDER BY id")
        {
            pending.append(
                MutationBatch(
                    id: row.integer(0), localWriteTime: Timestamp(microseconds: row.integer(1)),
                    baseMutations: try MutationCodec.decode(row.blob(2)),
                    mutations: try MutationCodec.decode(row.blob(3))))
        }
    }
}

// MARK: - Documents and queries

extension LocalStore {
    func document(at path: DocumentPath) throws -> LocalDocument {
        try store.read { try document(at: path, $0) }
    }

    func document(
        at path: DocumentPath, _ transaction: StoreTransaction
    ) throws -> LocalDocument {
        let base = try transaction.documents(of: database).document(at: path)
        return pending.view(of: path, over: base)
    }

    /// The query's rows, pending writes merged in, in no order.
    func run(_ query: Query) throws -> [LocalDocument] {
        try store.read { try run(query, $0) }
    }

    func run(_ query: Query, _ transaction: StoreTransaction) throws -> [LocalDocument] {
        if let path = query.onlyDocument {
            let document = try document(at: path, transaction)
            return document.isFound ? [document] : []
        }
        let written = pending.paths(in: query)
        var wider = query
        wider.projection = nil
        wider.offset = 0
        if let limit = query.limit {
            // Written documents may fall out; as many others have to be there to move up.
            let count = limit.count + query.offset + written.count
            if case .first = limit {
                wider.limit = .first(count)
            } else {
                wider.limit = .last(count)
            }
        }
        let table = transaction.documents(of: database)
        if written.isEmpty && query.offset == 0 {
            return try table.run(wider).documents.map(LocalDocument.init)
        }
        let replaced = Set(written)
        var enough = Int.max
        if case .first(let count)? = query.limit { enough = count + query.offset }
        var rows: [LocalDocument] = []
        try table.run(wider) { row in
            if !replaced.contains(row.path) { rows.append(LocalDocument(row)) }
            return rows.count < enough
        }
        return merge(query, rows, try written.map { try document(at: $0, transaction) })
    }

    /// Puts written documents in the place of `rows` of the same path, in the query's order, and
    /// cuts to its limit.
    func merge(
        _ query: Query, _ rows: [LocalDocument], _ written: [LocalDocument]
    ) -> [LocalDocument] {
        let replaced = Set(written.map(\.path))
        var set = DocumentSet(RowOrder(query))
        var byPath: [DocumentPath: LocalDocument] = [:]
        for document in rows.filter({ !replaced.contains($0.path) }) + written {
            guard let viewDocument = document.viewDocument else { continue }
            let fields = document.contents.decoded
            guard query.matches(document.path, fields, in: database) else { continue }
            set.insert(ViewRow(viewDocument, fields, set.order))
            byPath[document.path] = document
        }
        var result = set.rows[...]
        switch query.limit {
        case .first(let count)?: result = result.dropFirst(query.offset).prefix(count)
        case .last(let count)?: result = result.suffix(count)
        case nil: result = result.dropFirst(query.offset)
        }
        return result.compactMap { byPath[$0.path] }
    }
}

extension Query {
    /// The one document that the query asks for by name, if that is all it asks.
    var onlyDocument: DocumentPath? {
        guard case .field(let field, .equal, .reference(let name))? = filter, field.isDocumentID,
            !allDescendants, orders.isEmpty, start == nil, end == nil, offset == 0, limit == nil,
            contains(name.path)
        else { return nil }
        return name.path
    }

    /// Asks for one document by name.
    static func document(_ path: DocumentPath, in database: DatabaseID) -> Query {
        var query = Query(collection: path.parent)
        query.filter = .field(
            .documentID, .equal, .reference(ReferenceValue(database: database, path: path)))
        return query
    }
}
