package import TidemarkModel

/// The documents that one migration reads: those of a collection, or of all collections with an id.
package enum MigratedCollection: Hashable, Sendable, CustomStringConvertible {
    case collection(CollectionPath)
    case group(String)

    /// - Throws: `InvalidPath` if the id of the group is not the id of a collection.
    package init(group id: String) throws(InvalidPath) {
        let path = try CollectionPath(id)
        if path.parent != nil { throw .slash(in: id) }
        self = .group(id)
    }

    package var description: String {
        switch self {
        case .collection(let path): path.text
        case .group(let id): "**/\(id)"
        }
    }

    /// Returns a query for all documents, without an order.
    package var query: Query {
        switch self {
        case .collection(let path): Query(collection: path)
        case .group(let id): Query(collectionID: id, allDescendants: true)
        }
    }

    /// Returns the query for a page of documents, ordered by name. It needs no index in either
    /// form.
    ///
    /// - Parameters:
    ///   - path: The last document of the page before; nil for the first page.
    ///   - limit: The maximum number of documents.
    ///   - fields: The fields to read.
    ///   - database: The database of `path`.
    package func page(
        after path: DocumentPath?, limit: Int, fields: [FieldPath], in database: DatabaseID
    ) -> Query {
        var query = query
        query.orders = [Order(.documentID)]
        query.projection = fields
        query.limit = .first(limit)
        if let path {
            let reference = ReferenceValue(database: database, path: path)
            query.start = Cursor(values: [.reference(reference)], before: false)
        }
        return query
    }

    /// Returns the collection of a document with `*` in place of the ids. All subcollections of one
    /// kind have the same name.
    package func pattern(of path: DocumentPath) -> String {
        guard case .group = self else { return description }
        return path.parent.segments.enumerated()
            .map { $0.offset.isMultiple(of: 2) ? $0.element : "*" }.joined(separator: "/")
    }
}
