import TidemarkModel
import TidemarkStore

/// Opens and releases the targets of queries.
final class LocalTargets {
    private let file: LocalFile
    private let table: TargetTable
    private let documents: LocalDocuments
    private let rows: TargetRows

    init(_ file: LocalFile, table: TargetTable, documents: LocalDocuments) {
        self.file = file
        self.table = table
        self.documents = documents
        rows = TargetRows(database: file.database)
    }

    /// The target, if it is in use.
    subscript(id: Int32) -> LocalTarget? { table[id] }

    var isEmpty: Bool { table.isEmpty }
    /// The targets that are no longer in use and whose last use is not on disk yet.
    var released: [Int32: KeptTarget] { table.released }
    /// The version of the last consistent snapshot. It never decreases.
    var lastVersion: Timestamp { table.lastVersion }

    /// Returns the derived facts about the query, perhaps from an earlier listen.
    func recent(_ query: Query) -> RecentQuery { table.recent(query, in: file.database) }

    // MARK: Opening

    /// Opens a query's target, known from earlier listens or new, with its rows.
    ///
    /// This only reads. A new target is stored with the first fact known about it, and its last use
    /// is stored at its release. Therefore a listen that the cache alone answers costs no write;
    /// the write took half the time of a small listen.
    ///
    /// - Returns: Nil if the search would read more than `most` documents or entries.
    func open(_ recent: RecentQuery, lookingAt most: Int) throws -> OpenedQuery? {
        try open(recent) { try documents.run(recent.query, $0, recent.plan, lookingAt: most) }
    }

    /// Opens a query as ``open(_:lookingAt:)`` does, with the given current rows.
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

    /// Opens all of these queries, or none. Call this before anything else is in use.
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

    /// Returns the rows of a target as of its last snapshot.
    func remoteKeys(of target: Int32) throws -> Set<DocumentPath> {
        try file.read { try rows.all(of: target, $0) }
    }

    // MARK: What a feed or a pager can begin with

    /// Returns a known result of a query without orders and limits: the newest one that tells what
    /// exists by item time.
    func knownResult(of query: Query, by itemTime: FieldPath) throws -> KnownResult? {
        try file.read { transaction in
            let prefix = query.targetPrefix + "|ob:"
            let found = try transaction.rows(
                """
                SELECT id, canonical, snapshotVersion FROM syncTarget
                WHERE canonical >= ? AND canonical < ? AND snapshotVersion > 0
                ORDER BY snapshotVersion DESC LIMIT 50
                """, [.blob(Array(prefix.utf8)), .blob(Array((prefix.dropLast() + ";").utf8))])
            for row in found {
                let text = String(decoding: try row.blob(1), as: UTF8.self)
                guard let shape = ResultShape(text.dropFirst(prefix.count), by: itemTime) else {
                    continue
                }
                let version = Timestamp(microseconds: try row.integer(2))
                let paths = try rows.first(
                    of: row.integer(0), KnownResult.mostRows + 1, transaction)
                if paths.isEmpty || paths.count > KnownResult.mostRows { continue }
                return try known(
                    paths, shape: shape, version: version, itemTime: itemTime,
                    transaction: transaction)
            }
            return nil
        }
    }

    private func known(
        _ paths: [DocumentPath], shape: ResultShape, version: Timestamp,
        itemTime: FieldPath, transaction: StoreTransaction
    ) throws -> KnownResult {
        let table = transaction.documents(of: file.database)
        var placed: [(document: Document, time: Value)] = []
        for path in paths {
            guard let document = try table.document(at: path)?.document else { continue }
            placed.append((document, document.fields[itemTime] ?? .null))
        }
        placed.sort { left, right in
            switch Value.compare(left.time, right.time) {
            case .descending: true
            case .ascending: false
            case .equal: left.document.path > right.document.path
            }
        }
        return KnownResult(
            documents: placed.map(\.document), readTime: version,
            isAll: shape.limit.map { paths.count < $0 } ?? true)
    }

    /// Returns the results that the server can continue, of listeners with a query's collection and
    /// filters.
    func held(of query: Query) throws -> ListenedResults {
        try file.read { transaction in
            var held = ListenedResults()
            let prefix = query.targetPrefix + "|ob:"
            let found = try transaction.rows(
                """
                SELECT id, canonical, snapshotVersion FROM syncTarget
                WHERE canonical >= ? AND canonical < ? AND length(token) > 0
                ORDER BY snapshotVersion DESC LIMIT \(ListenedResults.most)
                """, [.blob(Array(prefix.utf8)), .blob(Array((prefix.dropLast() + ";").utf8))])
            for row in found {
                let id = Int32(clamping: try row.integer(0))
                // A target that was just released is newer in memory than on disk.
                let recent = table[id] ?? table.released[id]?.target
                let stored = Timestamp(microseconds: try row.integer(2))
                held.add(
                    QueryKey(stored: String(decoding: try row.blob(1), as: UTF8.self)),
                    ListenedResults.Rows(
                        heardAt: recent?.snapshotVersion ?? stored,
                        paths: Array(try rows.all(of: id, transaction))))
            }
            return held
        }
    }

    // MARK: Rows

    /// Returns one part of the rows that ``remoteKeys(of:)`` returns.
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

    /// True if a target has more than `count` documents.
    func hasRows(moreThan count: Int, of target: Int32) throws -> Bool {
        try file.read { try rows.hasMore(than: count, of: target, $0) }
    }

    /// Returns the time at which the server last confirmed all rows of a query; nil for never.
    func confirmed(_ query: Query) throws -> Timestamp? {
        let key = QueryKey(query)
        if let target = table.inUse(key) { return target.confirmed }
        return try file.read { try table.storedTarget(key, $0)?.target.confirmed }
    }

    // MARK: Releasing

    /// Ends the use of a target. The facts about the target stay, for the next listen.
    ///
    /// The facts that are not on disk are written now. If only the last use changed, it is written
    /// with the next transaction that writes anything: a separate transaction was most of the work
    /// of a listen to the cache, and two pages of the log. A kill before that transaction makes the
    /// target look unused for longer.
    func release(_ id: Int32) throws {
        if let unsaved = table.release(id) {
            try file.write(.releaseTarget) { try table.save(unsaved, $0) }
        }
    }

    /// Stores which targets were used last.
    func saveReleased() throws {
        if !table.released.isEmpty { try file.write(.releaseTarget) { _ in } }
    }
}
