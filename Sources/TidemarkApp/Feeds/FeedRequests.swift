import Tidemark

// The queries of a feed on the server.

extension ParsedDefinition {
    /// Returns the query for a page of a plan.
    ///
    /// - Precondition: The plan reads changes or items.
    func request(_ plan: ReadPlan, in database: DatabaseID) -> QueryValue {
        var result: QueryValue
        switch plan.question {
        case .changes(let since, let after): result = changes(since: since, after, in: database)
        case .items(let range): result = items(in: range, database)
        case .figures, .changeCount, .marks: preconditionFailure("not asked by a query")
        }
        result.limit = .first(plan.pageSize)
        return result
    }

    /// Returns the query of a listener.
    ///
    /// - Precondition: The listener does not follow the marks.
    func request(_ listen: FeedListen, in database: DatabaseID) -> QueryValue {
        var result: QueryValue
        switch listen.question {
        case .changes(let since): result = changes(since: since, nil, in: database)
        case .items(let range): result = items(in: range, database)
        case .head(let action):
            result = display
            if let action { result.add(itemTime, operation: .greaterThan, time: action) }
        case .marks: preconditionFailure("not asked by a query")
        }
        result.limit = .first(listen.limit)
        return result
    }

    /// Returns the query for all changes from a change time on. It uses the same index as a page of
    /// changes.
    func changes(since: Timestamp) -> QueryValue {
        guard let changeTime else { preconditionFailure("no field tells the changes") }
        var result = query.adding(.field(changeTime, .greaterThanOrEqual, .timestamp(since)))
        result.orders = [Order(changeTime), Order(.documentID)]
        return result
    }

    private func changes(
        since: Timestamp, _ after: ReadPlan.Place?, in database: DatabaseID
    ) -> QueryValue {
        var result = changes(since: since)
        if let after {
            let name = ReferenceValue(database: database, path: after.path)
            result.start = Cursor(
                values: [.timestamp(after.changeTime), .reference(name)], before: false)
        }
        return result
    }

    /// Returns the query for the items of a range, newest first. Its ends are conditions, and also
    /// cursors if an end is between items of the same time. Times are compared only with times:
    /// other values are excluded.
    func items(in range: Range<CoveragePosition>, _ database: DatabaseID) -> QueryValue {
        let upper = range.upperBound
        var result = display
        result.cut(below: range.lowerBound, itemTime, database)
        if upper == .highest { return result }
        func cursor(_ path: DocumentPath, before: Bool) -> Cursor {
            upper.cursor(path, before: before, database)
        }
        switch upper.side {
        case .start: result.add(itemTime, operation: .lessThan, time: upper.time)
        case .end: result.add(itemTime, operation: .lessThanOrEqual, time: upper.time)
        case .before(let path):
            result.add(itemTime, operation: .lessThanOrEqual, time: upper.time)
            result.start = cursor(path, before: false)
        case .after(let path):
            result.add(itemTime, operation: .lessThanOrEqual, time: upper.time)
            result.start = cursor(path, before: true)
        }
        return result
    }
}

extension CoveragePosition {
    fileprivate func cursor(
        _ path: DocumentPath, before: Bool, _ database: DatabaseID
    ) -> Cursor {
        let name = ReferenceValue(database: database, path: path)
        return Cursor(values: [.timestamp(time), .reference(name)], before: before)
    }
}

extension QueryValue {
    /// Excludes everything below a position. The query must have a feed's order.
    mutating func cut(below lower: CoveragePosition, _ itemTime: FieldPath, _ database: DatabaseID)
    {
        switch lower.side {
        case .end: add(itemTime, operation: .greaterThan, time: lower.time)
        case .start: add(itemTime, operation: .greaterThanOrEqual, time: lower.time)
        case .before(let path):
            add(itemTime, operation: .greaterThanOrEqual, time: lower.time)
            end = lower.cursor(path, before: false, database)
        case .after(let path):
            add(itemTime, operation: .greaterThanOrEqual, time: lower.time)
            end = lower.cursor(path, before: true, database)
        }
    }

    fileprivate mutating func add(
        _ field: FieldPath, operation: FilterValue.Operator, time: Timestamp
    ) {
        self = adding(.field(field, operation, .timestamp(time)))
    }
}
