import Tidemark

// What a feed asks of the cache. Each is one range of an index that the feed declares.

extension ParsedDefinition {
    /// What is held, newest first.
    var display: QueryValue {
        var result = query
        result.orders = [Order(itemTime, .descending), Order(.documentID, .descending)]
        return result
    }

    /// What is held from a position up, and below another one. Its ends are cursors: a condition on the
    /// time would leave out what is still to get one.
    func display(
        below end: PagePosition?, from base: CoveragePosition, in database: DatabaseID
    ) -> QueryValue {
        // Times that the server is to set pass every mark, and are above all that is stored.
        var result = display
        if let end, !end.isUnsettled {
            let name = ReferenceValue(database: database, path: end.path)
            result.start = Cursor(values: [end.value, .reference(name)], before: false)
        }
        if base != .lowest { result.end = base.cursor(in: database) }
        return result
    }

    /// Whether an item lies at or above a position; see ``display(below:from:in:)``. What has no time,
    /// a text for example, comes before all times there.
    func isPlaced(_ document: Document, atLeast base: CoveragePosition) -> Bool {
        guard let value = document.fields[itemTime] else { return false }
        return PagePosition(value: value, path: document.path).isAtLeast(base)
    }

    /// What tells how many items are in a query's result: all of it, and with marked deletes those that
    /// have the field (no other takes part in an order by it), and those in which it is null.
    private func counts(of all: QueryValue) -> [QueryValue] {
        guard let deletedField else { return [all] }
        var having = all
        having.orders.insert(Order(deletedField, .descending), at: 1)
        return [all, having, all.adding(.unary(deletedField, .isNull))]
    }

    /// What tells how many items are held from a position up; where it lies between items of one time,
    /// these are told apart.
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

    /// How many items the answers to ``counts(from:in:)`` come to.
    func count(_ answers: [Int]) -> Int {
        guard deletedField != nil else { return answers.reduce(0, +) }
        return stride(from: 0, to: answers.count - 2, by: 3).reduce(0) { sum, index in
            sum + max(0, answers[index] - answers[index + 1] + answers[index + 2])
        }
    }

    var indexed: [QueryValue] { [display] + counts(of: display).dropFirst() }

    /// What a document is in the feed; nil for one that is no item of it.
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
