extension Query {
    /// The orders with the implicit ones: the fields of range filters that are not ordered by, by
    /// name, then the document's name, both in the direction of the last explicit order.
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

    /// The fields that range filters, `!=` and `not-in` compare, sorted, the document's name last.
    public var inequalityFields: [FieldPath] {
        var fields: Set<FieldPath> = []
        filter?.forEachLeaf { field, isInequality in
            if isInequality { fields.insert(field) }
        }
        return fields.sorted { a, b in
            a.isDocumentID != b.isDocumentID ? b.isDocumentID : a < b
        }
    }

    /// Whether the query's index entries are billed beside its documents: more than one of its fields
    /// is a range. A field that is ordered by counts as a range where there is another; `__name__`
    /// does whatever it is compared by, but not where it only ends the order: it ends every order,
    /// said or not.
    package var hasSeveralRangeFields: Bool {
        var fields: Set<FieldPath> = []
        filter?.collectRangeFields(&fields)
        if fields.isEmpty { return false }
        for order in orders where !order.field.isDocumentID { fields.insert(order.field) }
        return fields.count > 1
    }

    /// Whether the document is among the query's rows, limit and offset aside. For many documents take
    /// a ``PreparedQuery``.
    ///
    /// - Parameter fields: The document's contents, decoded.
    public func matches(_ path: DocumentPath, _ fields: MapValue, in database: DatabaseID) -> Bool {
        PreparedQuery(self, in: database).matches(path, fields)
    }

    /// Whether the document lies in a collection that the query reads.
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

    /// The order of two matching documents. Never equal for two paths. For many documents take a
    /// ``PreparedQuery``.
    public func compare(
        _ left: (path: DocumentPath, fields: MapValue),
        _ right: (path: DocumentPath, fields: MapValue), in database: DatabaseID
    ) -> Comparison {
        PreparedQuery(self, in: database).compare(left, right)
    }

    /// As it goes over the wire: a limit to the last rows becomes one to the first in flipped order.
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
    /// ``normalizedOrders`` without the implicit ones behind the name, which decides by itself: a server
    /// refuses an order that goes on behind it, and adds those by itself. What a cursor has values for
    /// stays.
    private var ordersForServer: ArraySlice<Order> {
        let orders = normalizedOrders
        let name = orders.firstIndex { $0.field.isDocumentID } ?? orders.count - 1
        let values = max(start?.values.count ?? 0, end?.values.count ?? 0)
        return orders.prefix(max(name + 1, values, self.orders.count))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether this is a path of one more segment than the collection's.
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
