import Tidemark

/// A query to which a live pipeline listens.
struct ListenedSource: Sendable {
    let query: QueryValue
    /// The only document that the listener names; nil for a query of documents.
    let document: DocumentPath?

    /// True if the listener has conditions, an order or a limit of the pipeline.
    var isSelecting: Bool {
        document == nil && (query.filter != nil || !query.orders.isEmpty || query.limit != nil)
    }

    /// The maximum number of documents of a `documents` source: each has a listener.
    static let maxDocuments = 100

    init(_ query: QueryValue, in database: DatabaseID) {
        self.query = query
        // The engine listens to such a query as to a document.
        if case .field(_, .equal, .reference(let name))? = query.filter,
            query == .document(name.path, in: database)
        {
            document = name.path
        } else {
            document = nil
        }
    }
}

extension SourcePlan {
    /// Returns the queries to which a live pipeline listens, in order. Two equal ones share a
    /// listener of the client, which the server bills once.
    ///
    /// - Throws: `invalidArgument` for too many documents by name, and for a pipeline without
    ///   documents.
    func listenedSources(
        in database: DatabaseID
    ) throws(FirestoreError) -> [ListenedSource] {
        var queries: [QueryValue] = []
        for source in sources {
            switch source {
            case .rows(let query), .words(let query, _): queries.append(query)
            case .documents(let paths):
                if paths.count > ListenedSource.maxDocuments {
                    throw .invalidArgument(
                        """
                        A live pipeline can listen to at most \(ListenedSource.maxDocuments) \
                        documents by name. Use a collection with a where.
                        """)
                }
                queries += paths.map { QueryValue.document($0, in: database) }
            }
        }
        if queries.isEmpty {
            throw .invalidArgument("A pipeline of literals alone never changes.")
        }
        return queries.map { ListenedSource($0, in: database) }
    }
}
