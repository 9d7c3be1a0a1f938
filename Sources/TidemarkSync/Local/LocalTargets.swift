import TidemarkModel
import TidemarkStore

/// Opens and releases the targets of queries.
final class LocalTargets {
    private let file: LocalFile
    private let table: TargetTable
    private let documents: LocalDocuments
    private let rows: TargetRows

    init(_ file: LocalFile, _ table: TargetTable, _ documents: LocalDocuments) {
        self.file = file
        self.table = table
        self.documents = documents
        rows = TargetRows(database: file.database)
    }

    /// The target, if it is in use.
    subscript(id: Int32) -> LocalTarget? { table[id] }

    var isEmpty: Bool { table.isEmpty }
    /// Those that are in use no more, and whose use is not on disk yet.
    var released: [Int32: KeptTarget] { table.released }
    /// Of the last consistent snapshot; never goes back.
    var lastVersion: Timestamp { table.lastVersion }

    /// What was worked out of the query, perhaps for an earlier listen.
    func recent(_ query: Query) -> RecentQuery { table.recent(query, in: file.database) }

    // MARK: Opening

    /// A query's target, remembered from earlier listens or new, with its rows.
    ///
    /// Only reads: a new target goes to disk with the first that is known of it, and its place among
    /// those that were used last when it is released. A listen that is answered by the cache alone costs no
    /// write, which was half of the time of a small one.
    ///
    /// - Returns: Nil where it would have to look at more than `most` documents or entries.
    func open(_ recent: RecentQuery, lookingAt most: Int) throws -> OpenedQuery? {
        try open(recent) { try documents.run(recent.query, $0, recent.plan, lookingAt: most) }
    }

    /// As ``open(_:lookingAt:)``, with the rows as they are now.
    func open(_ recent: RecentQuery, _ rows: [LocalDocument]) throws -> OpenedQuery {
        try open(recent) { _ in rows }!
    }

    private func open(
        _ recent: RecentQuery, _ find: (StoreTransaction) throws -> [LocalDocument]?
    ) throws -> OpenedQuery? {
        let key = recent.targetKey
        if let used = table.inUse(key) {
            guard let documents = try file.read(.allocateTarget, find) else { return nil }
            return OpenedQuery(used, documents, synced: !table.isPersisted(used.id) ? [] : nil)
        }
        var stored: KeptTarget?
        let found = try file.read(.allocateTarget) { transaction in
            stored = try table.storedTarget(key, transaction)
            return try find(transaction)
        }
        guard let documents = found else { return nil }
        var target = stored?.target ?? table.makeTarget(key)
        target.sequence = table.nextSequence
        let opened = OpenedQuery(target, documents, synced: stored == nil ? [] : nil)
        table.take(target, stored: stored)
        return opened
    }

    /// Opens all of these queries, or none. To be called before anything else is in use.
    func reopen(_ queries: [Query]) throws -> [OpenedQuery] {
        try file.write(.handleUserChange) { transaction in
            try queries.map { query in
                let key = QueryKey(query.wireForm)
                let known = table.inUse(key)
                let target = try known ?? table.allocate(key, transaction)
                if known == nil { table.take(target, stored: KeptTarget(target)) }
                return OpenedQuery(
                    target, try documents.run(query, transaction)!,
                    synced: try rows.all(of: target.id, transaction))
            }
        }
    }

    /// The rows of a target as of its last snapshot.
    func remoteKeys(of target: Int32) throws -> Set<DocumentPath> {
        try file.read { try rows.all(of: target, $0) }
    }

    // MARK: Rows

    /// As ``remoteKeys(of:)``, a part at a time.
    func page(
        of target: Int32, after row: Int64, _ count: Int, _ transaction: StoreTransaction
    ) throws -> (paths: [DocumentPath], last: Int64?, isEnd: Bool) {
        try rows.page(of: target, after: row, count, transaction)
    }

    func hasRow(
        _ path: DocumentPath, of target: Int32, _ transaction: StoreTransaction
    ) throws -> Bool {
        try rows.has(path, of: target, transaction)
    }

    /// Whether a target has more documents than this.
    func hasRows(moreThan count: Int, of target: Int32) throws -> Bool {
        try file.read { try rows.hasMore(than: count, of: target, $0) }
    }

    /// When the server last confirmed all of a query's rows; nil for never.
    func confirmed(_ query: Query) throws -> Timestamp? {
        let key = QueryKey(query)
        if let target = table.inUse(key) { return target.confirmed }
        return try file.read { try table.storedTarget(key, $0)?.target.confirmed }
    }

    // MARK: Releasing

    /// Nobody listens to the target any more. What is known of it stays, for the next time.
    ///
    /// What the disk has not is written at once. Where that is only when it was used, it goes with the next
    /// transaction that writes anything: one of its own was most of the work of a listen to the cache,
    /// and two pages of the log. A kill before that lets it seem unused for longer.
    func release(_ id: Int32) throws {
        if let unsaved = table.release(id) {
            try file.write(.releaseTarget) { try table.save(unsaved, $0) }
        }
    }

    /// Writes down which targets were used last.
    func saveReleased() throws {
        if !table.released.isEmpty { try file.write(.releaseTarget) { _ in } }
    }
}
