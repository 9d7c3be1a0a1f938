import TidemarkModel
import TidemarkStore

/// A database as of a time: the present, or a past time with later changes undone.
struct ReadScope {
    let database: DatabaseID
    let table: DocumentTable
    /// The read time of every reply.
    let readTime: Timestamp
    /// The log; nil for a database without commits.
    let log: ChangeLog?
    /// True if later changes must be undone.
    let isPast: Bool
    /// The transaction that began for this read, which the caller must receive.
    var begun: TransactionID?
    /// The optimistic transaction that must remember its reads.
    var recorder: TransactionID?

    struct Totals {
        var returned = 0
        var skipped = 0
        /// The number of scanned index entries or documents.
        var scanned = 0
        /// The number of entries in the index of vectors for the search.
        var vectorEntries = 0
    }

    func document(at path: DocumentPath) throws -> Document? {
        if let past, let undo = try past.undo(of: path, after: readTime) { return undo.previous }
        return try table.document(at: path)?.document
    }

    /// The log for undoing changes; nil if there is nothing to undo.
    var past: ChangeLog? { isPast ? log : nil }

    /// Passes the query's rows on in order, until `body` returns false; offset and limit are
    /// applied, the projection is not. The rows of a vector search have their distances.
    func run(_ query: Query, _ body: (Document) -> Bool) throws -> Totals {
        if let search = query.findNearest {
            return try runNearest(query, search: search, body: body)
        }
        if let past {
            let undos = try past.undos(after: readTime) { query.contains($0) }
            if !undos.isEmpty { return try run(query, undoing: undos, body) }
        }
        var totals = Totals()
        let stats = try table.run(query) { stored in
            guard let document = stored.document else { return true }
            totals.returned += 1
            return body(document)
        }
        totals.skipped = stats.rowsSkipped
        totals.scanned = stats.rowsScanned
        return totals
    }

    /// Reads every row that passes the filters, as production does without a better index.
    private func runNearest(
        _ query: Query, search: FindNearest, body: (Document) -> Bool
    ) throws -> Totals {
        var candidates = query
        candidates.findNearest = nil
        var nearest = NearestRows(search)
        var failure: RPCStatus?
        var totals = try run(candidates) { document in
            do throws(RPCStatus) { try nearest.add(document) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
        totals.returned = 0
        totals.vectorEntries = nearest.entries
        for document in nearest.documents {
            totals.returned += 1
            if !body(document) { break }
        }
        return totals
    }

    /// Returns the rows of a past time: the present rows, with changed rows replaced.
    private func run(
        _ query: Query, undoing undos: [ChangeLog.Undo], _ body: (Document) -> Bool
    ) throws -> Totals {
        var wide = query
        wide.offset = 0
        switch query.limit {
        // The number of present rows that drop out is at most the number of changes.
        case .first(let count)?:
            wide.limit = .first(Self.sum(count, query.offset, undos.count))
        case .last: return try runLast(query, undoing: undos, body)
        case nil: break
        }
        let undone = Set(undos.map(\.path))
        let prepared = PreparedQuery(query, in: database)
        var then = Self.rows(of: prepared, in: undos)[...]
        var totals = Totals()
        func give(_ document: Document) -> Bool {
            if totals.skipped < query.offset {
                totals.skipped += 1
                return true
            }
            if totals.returned == query.limit?.count { return false }
            totals.returned += 1
            return body(document)
        }
        var goesOn = true
        let stats = try table.run(wide) { stored in
            guard let document = stored.document, !undone.contains(stored.path) else { return true }
            if !then.isEmpty {
                let row = Self.row(document)
                while goesOn, let first = then.first, prepared.compare(first.0, row.0) == .ascending
                {
                    then.removeFirst()
                    goesOn = give(first.document)
                }
            }
            goesOn = goesOn && give(document)
            return goesOn
        }
        while goesOn, let first = then.popFirst() { goesOn = give(first.document) }
        totals.scanned = stats.rowsScanned + undos.count
        return totals
    }

    /// A row with decoded fields, for sorting.
    private typealias Row = ((path: DocumentPath, fields: MapValue), document: Document)

    private static func row(_ document: Document) -> Row {
        ((document.path, document.fields), document)
    }

    /// Returns the changed documents that were rows of the query, in its order.
    private static func rows(of query: PreparedQuery, in undos: [ChangeLog.Undo]) -> [Row] {
        undos.compactMap { undo in undo.previous.map(row) }
            .filter { query.matches($0.0.path, $0.0.fields) }
            .sorted { query.compare($0.0, $1.0) == .ascending }
    }

    /// Finds the last rows of a past time among all of them.
    private func runLast(
        _ query: Query, undoing undos: [ChangeLog.Undo], _ body: (Document) -> Bool
    ) throws -> Totals {
        guard case .last(let count)? = query.limit else { return Totals() }
        var all = query
        all.limit = nil
        var last: [Document] = []
        var totals = try run(all, undoing: undos) { document in
            last.append(document)
            if last.count >= 2 * max(count, 32) { last.removeFirst(last.count - count) }
            return true
        }
        totals.returned = 0
        for document in last.suffix(count) {
            totals.returned += 1
            if !body(document) { break }
        }
        return totals
    }

    /// Adds numbers without overflow, because limits come from outside and can have any size.
    private static func sum(_ numbers: Int...) -> Int {
        numbers.reduce(0) { total, number in
            let (sum, overflow) = total.addingReportingOverflow(number)
            return overflow ? .max : sum
        }
    }

    func documents(_ query: Query) throws -> [Document] {
        var result: [Document] = []
        _ = try run(query) {
            result.append($0)
            return true
        }
        return result
    }

    /// Counts the query's rows, up to `upTo`.
    ///
    /// - Returns: The number of rows, the number of scanned index entries or documents, and the
    ///   number of documents among them.
    func count(
        _ query: Query, upTo: Int64? = nil
    ) throws -> (count: Int64, scanned: Int, documents: Int) {
        if past == nil {
            let count = try table.count(query, upTo: upTo)
            return (count.count, count.entriesScanned, count.documentsScanned)
        }
        var rows: Int64 = 0
        if let upTo, upTo <= 0 { return (0, 0, 0) }
        let totals = try run(query) { _ in
            rows += 1
            return upTo.map { rows < $0 } ?? true
        }
        return (rows, totals.scanned, totals.scanned)
    }
}

extension DatabaseClocks {
    /// Returns the present state of a database.
    func latestScope(_ database: DatabaseID, _ transaction: StoreTransaction) -> ReadScope {
        ReadScope(
            database: database, table: transaction.documents(of: database),
            readTime: takeReadTime(database), log: log(database, transaction), isPast: false)
    }

    /// - Throws: A status if no read is possible at that time.
    func scope(
        at time: Timestamp, _ database: DatabaseID, _ transaction: StoreTransaction
    ) throws(RPCStatus) -> ReadScope {
        try check(readTime: time, database)
        return pastScope(time, database: database, transaction: transaction)
    }

    /// - Precondition: The log reaches back to the time, and no later commit will precede it.
    func pastScope(
        _ time: Timestamp, database: DatabaseID, transaction: StoreTransaction
    ) -> ReadScope {
        ReadScope(
            database: database, table: transaction.documents(of: database), readTime: time,
            log: log(database, transaction),
            // There is nothing to undo if there was no commit since.
            isPast: states[database]?.lastCommit ?? 0 > time.microseconds)
    }

    private func log(_ database: DatabaseID, _ transaction: StoreTransaction) -> ChangeLog? {
        states[database]?.rowID.map {
            ChangeLog(database: $0, documents: transaction.documents(of: database))
        }
    }
}
