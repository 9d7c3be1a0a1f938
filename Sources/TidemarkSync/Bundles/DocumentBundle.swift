public import TidemarkModel

/// Documents and query results packed by a server for caches.
public struct DocumentBundle: Hashable, Sendable {
    /// The id, which together with ``createTime`` identifies a bundle.
    public var id: String
    public var createTime: Timestamp
    public var documents: [BundledDocument]
    public var namedQueries: [NamedQuery]

    public init(
        id: String, createTime: Timestamp, documents: [BundledDocument] = [],
        namedQueries: [NamedQuery] = []
    ) {
        self.id = id
        self.createTime = createTime
        self.documents = documents
        self.namedQueries = namedQueries
    }
}

/// A document of a bundle, or its absence.
public struct BundledDocument: Hashable, Sendable {
    public var path: DocumentPath
    /// The document; nil if it is known to be missing.
    public var document: Document?
    public var readTime: Timestamp
    /// The names of the queries whose results contain the document.
    public var queries: [String]

    public init(
        path: DocumentPath, document: Document?, readTime: Timestamp, queries: [String] = []
    ) {
        precondition(document.map { $0.path == path } ?? true)
        self.path = path
        self.document = document
        self.readTime = readTime
        self.queries = queries
    }

    var remote: RemoteDocument { document.map(RemoteDocument.found) ?? .missing(path, readTime) }
}

/// A query whose result at a read time is in a bundle.
public struct NamedQuery: Hashable, Sendable {
    public var name: String
    public var query: Query
    public var readTime: Timestamp
    /// The encoded query of the bundle, for callers that ask for the query by name.
    public var source: [UInt8]

    public init(name: String, query: Query, readTime: Timestamp, source: [UInt8]) {
        self.name = name
        self.query = query
        self.readTime = readTime
        self.source = source
    }
}
