package import Tidemark

/// What the history of a query asks the server, page by page, and how far an answer goes. Pure.
package struct HistoryPages: Hashable, Sendable {
    /// Without an order, a limit or a cursor.
    package let query: QueryValue
    private let itemTime: FieldPath
    private let size: Int

    package init(_ query: QueryValue, itemTime: FieldPath, size: Int) {
        precondition(size > 0)
        self.query = query
        self.itemTime = itemTime
        self.size = size
    }

    /// The newest page of a range.
    package func request(
        _ range: Range<CoveragePosition>, in database: DatabaseID
    ) -> QueryValue {
        let upper = range.upperBound
        // Lower edges are those of windows, and so before all items of a time.
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

    /// Down to where a page has everything.
    ///
    /// - Parameter last: The item's time, and its document; nil for a page with nothing on it.
    package func reached(
        _ range: Range<CoveragePosition>, count: Int, last: (time: Value?, path: DocumentPath)?
    ) throws(BackfillFailure) -> CoveragePosition {
        guard count >= size, let last else { return range.lowerBound }
        guard case .timestamp(let time)? = last.time else {
            throw .permanent("an item's time is no timestamp")
        }
        return .before(time, last.path)
    }
}
