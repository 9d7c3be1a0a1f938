package import Tidemark

/// The server queries for the history of a query, page by page, and the range of each answer. A
/// pure value.
package struct HistoryPages: Hashable, Sendable {
    /// The query, without an order, a limit or a cursor.
    package let query: QueryValue
    private let itemTime: FieldPath
    private let size: Int

    package init(_ query: QueryValue, itemTime: FieldPath, size: Int) {
        precondition(size > 0)
        self.query = query
        self.itemTime = itemTime
        self.size = size
    }

    /// Returns the query for the newest page of a range.
    package func request(
        _ range: Range<CoveragePosition>, in database: DatabaseID
    ) -> QueryValue {
        let upper = range.upperBound
        // Lower edges are edges of windows, and are before all items of their time.
        var page = query.above(range.lowerBound.time, itemTime, orEqual: true)
        page.orders = [Order(itemTime, .descending), Order(.documentID, .descending)]
        page.limit = .first(size)
        if let path = upper.path {
            let name = ReferenceValue(database: database, path: path)
            page.start = Cursor(values: [.timestamp(upper.time), .reference(name)], before: false)
            return page
        }
        return page.adding(.field(itemTime, .lessThan, .timestamp(upper.time)))
    }

    /// Returns the lower end of the range that a page covers completely.
    ///
    /// - Parameter last: The time and the path of the page's last item; nil for an empty page.
    package func reached(
        _ range: Range<CoveragePosition>, count: Int, last: (time: Value?, path: DocumentPath)?
    ) throws(BackfillFailure) -> CoveragePosition {
        guard count >= size, let last else { return range.lowerBound }
        guard case .timestamp(let time)? = last.time else {
            throw .permanent("an item's time is not a timestamp")
        }
        return .before(time, last.path)
    }
}
