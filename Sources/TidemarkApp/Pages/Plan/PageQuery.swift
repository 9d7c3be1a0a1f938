import Tidemark

/// The query of a pager's pages.
struct PageQuery: Sendable {
    /// The query for all rows, in their order.
    let rows: Query
    /// The time of the user's clear mark; nil for none.
    var cleared: Timestamp?

    /// - Parameter place: The row above the page; nil for the newest page.
    func page(after place: PagePosition?, limit: Int) -> Query {
        var query = rows
        if let cleared { query = (try? query.times(above: cleared)) ?? query }
        guard let place, var value = try? query.runnable() else { return query.limit(to: limit) }
        let name = ReferenceValue(database: query.firestore.databaseID, path: place.path)
        value.orders.append(Order(.documentID, .descending))
        value.start = Cursor(values: [place.value, .reference(name)], before: false)
        return Query(query.firestore, value).limit(to: limit)
    }
}
