package import TidemarkModel
import TidemarkStore

/// Documents that are read together with others, in one state of the cache.
package enum CachedSource: Hashable, Sendable {
    /// The rows of a query without offset and projection. Only a single source may have a limit.
    case rows(Query)
    /// The documents of a query's collections that contain all terms, and perhaps others. The query
    /// has no conditions, orders and limits.
    case words(Query, [SearchTerm])
    /// The existing documents among these.
    case documents([DocumentPath])

    /// The query whose rows the documents are among; nil for documents by name.
    package var query: Query? {
        switch self {
        case .rows(let query), .words(let query, _): query
        case .documents: nil
        }
    }

    /// The query, if it has conditions, orders or a limit; otherwise nil.
    var selectingQuery: Query? {
        guard case .rows(let query) = self,
            query.filter != nil || !query.orders.isEmpty || query.limit != nil
        else { return nil }
        return query
    }

    /// The source with more rows, if it has a limit.
    func with(moreRows count: Int) -> CachedSource {
        guard case .rows(var query) = self, case .first(let limit)? = query.limit else {
            return self
        }
        query.limit = .first(min(limit, .max - count) + count)
        return .rows(query)
    }
}

/// The documents of several sources in one state of the cache, with pending writes.
package struct CachedSources: Sendable {
    /// The documents of each source, in the order of the sources. Those of a query come in its
    /// order if it is the only source, and otherwise in any order.
    package let documents: [[ViewDocument]]
    /// True if documents of the queries' collections have server timestamps that the server has
    /// not set yet. A query sees none there, and a pipeline the device's time. All these documents
    /// then stand behind the rows, which are as many more as may be needed.
    package let haveMore: Bool
    /// The time since the server confirmed all sources as complete; nil if it never did so for one
    /// of them.
    package let age: Duration?
    /// The fields in which a search looks for words, by collection.
    package let words: [WordIndexDefinition]
    /// The searches and what they looked at, in the order of the sources.
    package let searches: [CachedSearch]
}

/// The documents that a search in the cache looked at.
package struct CachedSearch: Hashable, Sendable {
    package let query: Query
    /// True if a word index found the documents; false if all documents were read.
    package let usesIndex: Bool
    /// The last time at which the server confirmed that all documents of the collections are in the
    /// cache; nil if it never did.
    package var confirmed: Timestamp?
}

/// The age and the pending writes of rows that were passed on one at a time.
package struct StreamedRows: Sendable {
    /// The time since the server confirmed the rows as complete; nil if it never did.
    package let age: Duration?
    package let hasPendingWrites: Bool
}

/// A read of several sources. The result agrees with the cache at the end of the read.
final class SourcesRead: SlicedRead {
    private let sources: [CachedSource]
    private let local: LocalStore
    private let maxBytes: Int
    private let words: [WordIndexDefinition]
    private var reads: [(any RowsRead)?]
    private var next = 0
    private var changes: ChangedDocuments?
    /// The documents that had pending writes when their source was read.
    private var written: Set<DocumentPath> = []
    private var bytes = 0
    /// The documents of each source; complete at the end.
    private(set) var found: [[LocalDocument]] = []
    /// The collections and fields that the searches looked at; complete at the end.
    private(set) var searches: [CachedSearch] = []

    /// - Parameters:
    ///   - maxBytes: The maximum size of all contents, in bytes of their encoding.
    ///   - words: The word indexes that searches may use.
    /// - Precondition: Queries have no offset, and beside other sources no limit.
    init(
        _ sources: [CachedSource], maxBytes: Int, words: [WordIndexDefinition],
        in local: LocalStore
    ) {
        self.sources = sources
        self.local = local
        self.maxBytes = maxBytes
        self.words = words
        reads = sources.map { source in
            switch source {
            case .documents: return nil
            case .rows(let query):
                precondition(query.offset == 0 && (sources.count == 1 || query.limit == nil))
                return QueryRead(query, local)
            case .words(let query, let terms):
                let id = query.collectionID ?? ""
                return WordRead(
                    query, for: terms,
                    by: words.first { $0.collectionID.hasSameBytes(as: id) }, in: local)
            }
        }
    }

    func step(_ budget: ScanBudget) throws -> Bool {
        // A single query follows changes itself.
        if reads.count > 1, changes == nil {
            changes = try local.read { $0.documents(of: local.database).changes() }
        }
        while next < reads.count {
            if let read = reads[next] {
                guard try read.step(budget) else { return false }
                try add(read)
            }
            next += 1
        }
        try finish()
        return true
    }

    private func add(_ read: any RowsRead) throws {
        bytes = try Self.bytes(bytes, adding: read.rows, within: maxBytes)
        written.formUnion(local.queue.pending.paths(in: read.query))
    }

    /// Returns the bytes of the contents that were read, with those of more rows.
    ///
    /// - Throws: `resourceExhausted` beyond `maxBytes`.
    @discardableResult
    static func bytes(
        _ bytes: Int, adding rows: [LocalDocument], within maxBytes: Int
    ) throws -> Int {
        let sum = rows.reduce(bytes) { $0 + $1.contents.bytes.count }
        if sum > maxBytes {
            throw SyncError.server(
                RPCStatus(
                    .resourceExhausted,
                    """
                    The pipeline reads more than \(maxBytes >> 20) MiB of documents from the \
                    cache. Add a where or a limit directly behind the collection.
                    """))
        }
        return sum
    }

    /// Looks again at the documents that changed during the read.
    private func finish() throws {
        let changed = changes?.paths ?? []
        try local.read { transaction in
            for (source, read) in zip(sources, reads) {
                switch source {
                case .rows(let query), .words(let query, _):
                    found.append(try rows(of: query, read: read!, changed: changed, transaction))
                case .documents(let paths):
                    let all = try paths.map { try local.queue.document(at: $0, transaction) }
                    found.append(all.filter(\.isFound))
                }
                if let search = read as? WordRead {
                    searches.append(search.summary)
                }
            }
        }
        reads = []
        changes = nil
    }

    private func rows(
        of query: Query, read: any RowsRead, changed: Set<DocumentPath>,
        _ transaction: StoreTransaction
    ) throws -> [LocalDocument] {
        if changes == nil { return read.rows }
        let others = changed.union(written).union(local.queue.pending.paths(in: query))
            .filter { query.contains($0) }
        let kept = read.rows.filter { !others.contains($0.path) }
        return kept + (try local.documents.written(others.sorted(), in: query, transaction))
    }
}
