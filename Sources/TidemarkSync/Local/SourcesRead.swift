package import TidemarkModel
import TidemarkStore

/// Documents that are read together with others, in one state of the cache.
package enum CachedSource: Hashable, Sendable {
    /// The rows of a query without offset and projection. Only a single source may have a limit.
    case rows(Query)
    /// The existing documents among these.
    case documents([DocumentPath])
}

/// The documents of several sources in one state of the cache, with pending writes.
package struct CachedSources: Sendable {
    /// The documents of each source, in the order of the sources. Those of a query come in its
    /// order if it is the only source, and otherwise in any order.
    package let documents: [[ViewDocument]]
    /// The time since the server confirmed all sources as complete; nil if it never did so for one
    /// of them.
    package let age: Duration?
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
    private var reads: [QueryRead?]
    private var next = 0
    private var changes: ChangedDocuments?
    /// The documents that had pending writes when their source was read.
    private var written: Set<DocumentPath> = []
    private var bytes = 0
    /// The documents of each source; complete at the end.
    private(set) var found: [[LocalDocument]] = []

    /// - Parameter maxBytes: The maximum size of all contents, in bytes of their encoding.
    /// - Precondition: Queries have no offset, and beside other sources no limit.
    init(_ sources: [CachedSource], maxBytes: Int, in local: LocalStore) {
        self.sources = sources
        self.local = local
        self.maxBytes = maxBytes
        reads = sources.map { source in
            guard case .rows(let query) = source else { return nil }
            precondition(query.offset == 0 && (sources.count == 1 || query.limit == nil))
            return QueryRead(query, local)
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

    private func add(_ read: QueryRead) throws {
        bytes += read.rows.reduce(0) { $0 + $1.contents.bytes.count }
        if bytes > maxBytes {
            throw SyncError.server(
                RPCStatus(
                    .resourceExhausted,
                    """
                    The pipeline reads more than \(maxBytes >> 20) MiB of documents from the \
                    cache. Add a where or a limit directly behind the collection.
                    """))
        }
        written.formUnion(local.queue.pending.paths(in: read.query))
    }

    /// Looks again at the documents that changed during the read.
    private func finish() throws {
        let changed = changes?.paths ?? []
        try local.read { transaction in
            for (source, read) in zip(sources, reads) {
                switch source {
                case .rows(let query):
                    found.append(try rows(of: query, read: read!, changed: changed, transaction))
                case .documents(let paths):
                    let all = try paths.map { try local.queue.document(at: $0, transaction) }
                    found.append(all.filter(\.isFound))
                }
            }
        }
        reads = []
        changes = nil
    }

    private func rows(
        of query: Query, read: QueryRead, changed: Set<DocumentPath>,
        _ transaction: StoreTransaction
    ) throws -> [LocalDocument] {
        if changes == nil { return read.rows }
        let others = changed.union(written).union(local.queue.pending.paths(in: query))
            .filter { query.contains($0) }
        let kept = read.rows.filter { !others.contains($0.path) }
        return kept + (try local.documents.written(others.sorted(), in: query, transaction))
    }
}
