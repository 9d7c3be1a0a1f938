public import TidemarkModel

/// Documents and results of queries that were packed by a server, to be put into caches.
public struct DocumentBundle: Hashable, Sendable {
    /// With ``createTime``, what tells a bundle from those loaded before.
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

/// A document of a bundle, or that there is none.
public struct BundledDocument: Hashable, Sendable {
    public var path: DocumentPath
    /// Nil for one that is known to be missing.
    public var document: Document?
    public var readTime: Timestamp
    /// The names of the queries whose results it is in.
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

/// A query whose result as of a time is in a bundle.
public struct NamedQuery: Hashable, Sendable {
    public var name: String
    public var query: Query
    public var readTime: Timestamp
    /// The query as the bundle had it, for whoever asks for it by name.
    public var source: [UInt8]

    public init(name: String, query: Query, readTime: Timestamp, source: [UInt8]) {
        self.name = name
        self.query = query
        self.readTime = readTime
        self.source = source
    }
}

extension SyncEngine {
    /// Puts a bundle into the cache. What the cache has in a newer version stays.
    ///
    /// - Parameter completion: Gets whether it was loaded: not when the same bundle, or a newer one
    ///   of the same id, was before.
    public func loadBundle(
        _ bundle: DocumentBundle,
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.bundle { () -> Bool in
                    guard var load = try core.local.bundles.begin(bundle.id, bundle.createTime)
                    else { return false }
                    load.queries = bundle.namedQueries
                    core.refreshViews(try core.local.bundles.store(bundle.documents, of: load), nil)
                    try core.local.bundles.finish(load)
                    return true
                })
        }
    }

    /// The query of this name in the bundles that were loaded, as its bundle had it; nil for none.
    public func namedQuery(
        _ name: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            do { completion(.success(try core.local.bundles.namedQuery(name))) } catch {
                completion(.failure(SyncError(storing: error)))
            }
        }
    }
}
