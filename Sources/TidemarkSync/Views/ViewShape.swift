import TidemarkModel

/// The facts that follow from a view's query alone, computed once. Two shapes are equal if their
/// queries are.
///
/// This is a class, because a view is copied, and its query has a dozen parts.
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
