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
        below end: FeedItem.Position?, action: Timestamp?, in database: DatabaseID
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
    func counted(above mark: Timestamp?) -> QueryValue { display.filtered(above: mark, itemTime) }

    /// Those above a mark that have the field of deletes: no other takes part in such an order.
    func counted(above mark: Timestamp?, having deleted: FieldPath) -> QueryValue {
        var result = counted(above: mark)
        result.orders.insert(Order(deleted, .descending), at: 1)
        return result
    }

    /// Those of them in which it is null: they are not deleted.
    func counted(above mark: Timestamp?, lacking deleted: FieldPath) -> QueryValue {
        counted(above: mark).adding(.unary(deleted, .isNull))
    }

    var indexed: [QueryValue] {
        let counts = deletedField.map {
            [counted(above: nil, having: $0), counted(above: nil, lacking: $0)]
        }
        return [display] + (counts ?? [])
    }

    func isDeleted(_ fields: MapValue) -> Bool {
        guard let deletedField, let value = fields[deletedField] else { return false }
        return value != .null
    }
}

extension FeedItem.Position {
    /// A time that the server is still to set has no place among stored ones.
    var isUnsettled: Bool {
        if case .pendingServerTimestamp = value { true } else { false }
    }
}

extension QueryValue {
    fileprivate func filtered(above mark: Timestamp?, _ field: FieldPath) -> QueryValue {
        mark.map { adding(.field(field, .greaterThan, .timestamp($0))) } ?? self
    }

    fileprivate func adding(_ condition: FilterValue) -> QueryValue {
        var result = self
        switch filter {
        case .and(let conditions)?: result.filter = .and(conditions + [condition])
        case let filter?: result.filter = .and([filter, condition])
        case nil: result.filter = condition
        }
        return result
    }
}
