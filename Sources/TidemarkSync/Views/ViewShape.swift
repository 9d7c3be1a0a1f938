import TidemarkModel

/// What follows from a view's query alone, worked out once. As equal as the queries are.
///
/// A class, because a view is copied, and its query has a dozen parts.
final class ViewShape: Sendable {
    let query: PreparedQuery
    let order: RowOrder

    init(_ query: Query, in database: DatabaseID) {
        self.query = PreparedQuery(query, in: database)
        order = RowOrder(query)
    }
}

extension ViewShape: Equatable {
    static func == (left: ViewShape, right: ViewShape) -> Bool {
        left === right
            || (left.query.query == right.query.query
                && left.query.database == right.query.database)
    }
}
