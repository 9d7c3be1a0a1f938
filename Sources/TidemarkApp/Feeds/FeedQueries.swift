import Tidemark

// What a feed asks of the cache. Each is one range of an index that the feed declares.

extension ParsedDefinition {
    /// What is held, newest first.
    var display: QueryValue {
        var result = query
        result.orders = [Order(itemTime, .descending), Order(.documentID, .descending)]
        return result
    }

    /// What is held and not cleared, below a position.
    func display(
        below end: PagePosition?, action: Timestamp?, in database: DatabaseID
    ) -> QueryValue {
        // Times that the server is to set pass every mark, and are above all that is stored.
        var result = display
        if let end, !end.isUnsettled {
            let name = ReferenceValue(database: database, path: end.path)
            result.start = Cursor(values: [end.value, .reference(name)], before: false)
        }
        return result.filtered(above: action, itemTime)
    }

    /// All above a mark, those marked as deleted too.
    private func counted(above mark: Timestamp?) -> QueryValue {
        display.filtered(above: mark, itemTime)
    }

    /// Those above a mark that have the field of deletes: no other takes part in such an order.
    private func counted(above mark: Timestamp?, having deleted: FieldPath) -> QueryValue {
        var result = counted(above: mark)
        result.orders.insert(Order(deleted, .descending), at: 1)
        return result
    }

    /// Those of them in which it is null: they are not deleted.
    private func counted(above mark: Timestamp?, lacking deleted: FieldPath) -> QueryValue {
        counted(above: mark).adding(.unary(deleted, .isNull))
    }

    /// What tells how many items are above a mark: all, and with marked deletes those that have the
    /// field, and those in which it is null.
    func counts(above mark: Timestamp?) -> [QueryValue] {
        guard let deletedField else { return [counted(above: mark)] }
        return [
            counted(above: mark), counted(above: mark, having: deletedField),
            counted(above: mark, lacking: deletedField),
        ]
    }

    var indexed: [QueryValue] { [display] + counts(above: nil).dropFirst() }

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
    fileprivate func filtered(above mark: Timestamp?, _ field: FieldPath) -> QueryValue {
        mark.map { adding(.field(field, .greaterThan, .timestamp($0))) } ?? self
    }

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
