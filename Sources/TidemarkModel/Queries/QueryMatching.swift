extension Query {
    /// The orders including the implicit ones: first the fields of range filters without an order,
    /// sorted by path; then the document's name. Both have the direction of the last explicit
    /// order.
    public var normalizedOrders: [Order] {
        if filter == nil, orders.isEmpty { return [Order(.documentID)] }
        var result = orders
        let direction = orders.last?.direction ?? .ascending
        for field in inequalityFields where !result.contains(where: { $0.field == field }) {
            result.append(Order(field, direction))
        }
        if !result.contains(where: { $0.field.isDocumentID }) {
            result.append(Order(.documentID, direction))
        }
        return result
    }

    /// The fields that range filters, `!=` and `not-in` compare, sorted, with the document's name
    /// last.
    public var inequalityFields: [FieldPath] {
        var fields: Set<FieldPath> = []
        filter?.forEachLeaf { field, isInequality in
            if isInequality { fields.insert(field) }
        }
        return fields.sorted { a, b in
            a.isDocumentID != b.isDocumentID ? b.isDocumentID : a < b
        }
    }

    /// True if the query is billed for index entries besides its documents, because at least two of
    /// its fields are ranges. If there is a range field, a field in the orders counts as a range
    /// too. `__name__` counts in any comparison, but not as an order, because every query is
    /// ordered by it, explicitly or not.
    package var hasSeveralRangeFields: Bool {
        var fields: Set<FieldPath> = []
        filter?.collectRangeFields(&fields)
        if fields.isEmpty { return false }
        for order in orders where !order.field.isDocumentID { fields.insert(order.field) }
        return fields.count > 1
    }

    /// Returns true if the document is among the query's rows, ignoring limit and offset. Use a
    /// ``PreparedQuery`` for many documents.
    ///
    /// - Parameter fields: The document's decoded contents.
    public func matches(_ path: DocumentPath, _ fields: MapValue, in database: DatabaseID) -> Bool {
        PreparedQuery(self, in: database).matches(path, fields)
    }

    /// Returns true if the document lies in a collection that the query reads.
    public func contains(_ path: DocumentPath) -> Bool {
        if !allDescendants, let collectionID {
            return path.text.withBytes { $0.isChild(of: collectionID, in: parent?.text) }
        }
        let collection = path.parent
        if let collectionID, !collection.id.hasSameBytes(as: collectionID) { return false }
        guard allDescendants else { return collection.parent == parent }
        guard let parent else { return true }
        return path.text.utf8.starts(with: (parent.text + "/").utf8)
    }

    /// Compares two matching documents in the query's order. Never equal for two paths. Use a
    /// ``PreparedQuery`` for many documents.
    public func compare(
        _ left: (path: DocumentPath, fields: MapValue),
        _ right: (path: DocumentPath, fields: MapValue), in database: DatabaseID
    ) -> Comparison {
        PreparedQuery(self, in: database).compare(left, right)
    }

    /// The query in its wire form: a limit to the last rows becomes a limit to the first rows in
    /// the reversed order.
    public var wireForm: Query {
        guard case .last(let count)? = limit else { return self }
        var result = self
        result.limit = .first(count)
        result.orders = ordersForServer.map { Order($0.field, $0.direction.flipped) }
        result.start = end.map { Cursor(values: $0.values, before: !$0.before) }
        result.end = start.map { Cursor(values: $0.values, before: !$0.before) }
        return result
    }
}

extension Query {
    /// The query in the wire form of an aggregation: ``wireForm`` with the explicit orders alone.
    ///
    /// The server puts the summed fields after the explicit orders and before the name, and
    /// refuses the query if the name is an explicit order. Source: firebase-js-sdk,
    /// `queryToAggregateTarget` ("Do not include implicit order-bys for aggregate queries").
    package var aggregationForm: Query {
        guard case .last? = limit, !orders.isEmpty else { return wireForm }
        var result = wireForm
        result.orders = orders.map { Order($0.field, $0.direction.flipped) }
        return result
    }

    /// ``normalizedOrders`` without the implicit orders after the name. The name alone decides the
    /// order, and the server adds those orders itself but rejects them in a request. Orders for
    /// which a cursor has values stay.
    private var ordersForServer: ArraySlice<Order> {
        let orders = normalizedOrders
        let name = orders.firstIndex { $0.field.isDocumentID } ?? orders.count - 1
        let values = max(start?.values.count ?? 0, end?.values.count ?? 0)
        return orders.prefix(max(name + 1, values, self.orders.count))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if the bytes are a path with exactly one more segment than the collection's path.
    fileprivate func isChild(of collectionID: String, in parent: String?) -> Bool {
        var start = 0
        for part in [parent, collectionID] {
            guard let part else { continue }
            let end = start + part.utf8.count
            guard end < count, self[end] == UInt8(ascii: "/"),
                part.withBytes({
                    Comparison.bytes($0, UnsafeBufferPointer(rebasing: self[start..<end]))
                }) == .equal
            else { return false }
            start = end + 1
        }
        return PathRules.startOfLastSegment(in: self) == start
    }
}
