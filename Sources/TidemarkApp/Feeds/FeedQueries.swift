import Tidemark

// The queries of a feed on the cache. Each query reads a range of an index that the feed declares.

extension ParsedDefinition {
    /// The held items, newest first.
    var display: QueryValue {
        var result = query
        result.orders = [Order(itemTime, .descending), Order(.documentID, .descending)]
        return result
    }

    /// Returns the held items from `base` up and below `end`. The ends are cursors: a condition on
    /// the time would exclude items whose time the server has not set yet.
    func display(
        below end: PagePosition?, from base: CoveragePosition, in database: DatabaseID
    ) -> QueryValue {
        // Times that the server has not set yet pass every mark, and sort above all stored items.
        var result = display
        if let end, !end.isUnsettled {
            let name = ReferenceValue(database: database, path: end.path)
            result.start = Cursor(values: [end.value, .reference(name)], before: false)
        }
        if base != .lowest { result.end = base.cursor(in: database) }
        return result
    }

    /// Returns true if an item is at or above a position; see ``display(below:from:in:)``. A value
    /// that is no time, for example a text, sorts before all times there.
    func isPlaced(_ document: Document, atLeast base: CoveragePosition) -> Bool {
        guard let value = document.fields[itemTime] else { return false }
        return PagePosition(value: value, path: document.path).isAtLeast(base)
    }

    /// Returns the queries that count the items in the result of `all`. Without marked deletes,
    /// this is `all`. With marked deletes, these are `all`, the items that have the field (an order
    /// by the field excludes all others), and the items in which the field is null.
    private func counts(of all: QueryValue) -> [QueryValue] {
        guard let deletedField else { return [all] }
        var having = all
        having.orders.insert(Order(deletedField, .descending), at: 1)
        return [all, having, all.adding(.unary(deletedField, .isNull))]
    }

    /// Returns the queries that count the held items from a position up. If the position is between
    /// items of the same time, separate queries count the items of that time.
    func counts(from base: CoveragePosition, in database: DatabaseID) -> [QueryValue] {
        if base == .lowest { return counts(of: display) }
        let time = Value.timestamp(base.time)
        func names(_ operation: FilterValue.Operator, _ path: DocumentPath) -> QueryValue {
            let name = Value.reference(ReferenceValue(database: database, path: path))
            return display.adding(.field(itemTime, .equal, time))
                .adding(.field(.documentID, operation, name))
        }
        let above = display.adding(.field(itemTime, .greaterThan, time))
        switch base.side {
        case .end: return counts(of: above)
        case .start: return counts(of: display.adding(.field(itemTime, .greaterThanOrEqual, time)))
        case .before(let path):
            return counts(of: above) + counts(of: names(.greaterThanOrEqual, path))
        case .after(let path): return counts(of: above) + counts(of: names(.greaterThan, path))
        }
    }

    /// Returns the number of items, from the answers to ``counts(from:in:)``.
    func count(_ answers: [Int]) -> Int {
        guard deletedField != nil else { return answers.reduce(0, +) }
        return stride(from: 0, to: answers.count - 2, by: 3).reduce(0) { sum, index in
            sum + max(0, answers[index] - answers[index + 1] + answers[index + 2])
        }
    }

    var indexed: [QueryValue] { [display] + counts(of: display).dropFirst() }

    /// Returns the row of a document; nil if the document is no item of the feed.
    func row<Content>(
        _ view: ViewDocument, _ content: (ViewDocument) -> Content
    ) -> FeedRow<Content>? {
        let fields = view.document.fields
        guard let value = fields[itemTime], !isDeleted(fields) else { return nil }
        return FeedRow(
            PagePosition(value: value, path: view.path), content(view),
            hasPendingWrites: view.hasPendingWrites)
    }

    func isDeleted(_ fields: MapValue) -> Bool {
        guard let deletedField, let value = fields[deletedField] else { return false }
        return value != .null
    }
}

extension QueryValue {
    func adding(_ condition: FilterValue) -> QueryValue {
        var result = self
        switch filter {
        case .and(let conditions)?: result.filter = .and(conditions + [condition])
        case let filter?: result.filter = .and([filter, condition])
        case nil: result.filter = condition
        }
        return result
    }
}
