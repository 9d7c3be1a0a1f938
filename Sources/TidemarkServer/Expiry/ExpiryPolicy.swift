package import TidemarkModel

/// A policy of time to live: documents of a collection group are deleted after the time in a field.
///
/// A document whose field is missing, or is no timestamp, is never deleted.
package struct ExpiryPolicy: Hashable, Sendable {
    package let group: String
    package let field: FieldPath

    /// Returns the query for the documents whose time has passed, the oldest time first.
    ///
    /// - Parameter most: The maximum number of documents.
    func expired(at now: Timestamp, most: Int) -> Query {
        var query = Query(collectionID: group, allDescendants: true)
        query.filter = .field(field, .lessThanOrEqual, .timestamp(now))
        query.orders = [Order(field)]
        query.limit = .first(most)
        return query
    }
}

/// A version of a document whose time has passed.
struct ExpiredDocument: Hashable, Sendable {
    let database: DatabaseID
    let path: DocumentPath
    let updateTime: Timestamp
}
