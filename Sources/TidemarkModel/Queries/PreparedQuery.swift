/// A query prepared for many documents: values that depend on the query alone are computed once.
public struct PreparedQuery: Sendable {
    public let query: Query
    public let database: DatabaseID
    /// ``Query/normalizedOrders``.
    public let orders: [Order]

    public init(_ query: Query, in database: DatabaseID) {
        self.query = query
        self.database = database
        orders = query.normalizedOrders
    }

    /// Returns true if the document is among the query's rows, ignoring limit and offset.
    ///
    /// - Parameter fields: The document's decoded contents.
    public func matches(_ path: DocumentPath, _ fields: MapValue) -> Bool {
        matches(path, in: fields)
    }

    /// Like ``matches(_:_:)``, for encoded fields.
    // Not generic, because the compiler does not specialize generic code for other modules.
    package func matches(_ path: DocumentPath, among fields: EncodedFields) -> Bool {
        fields.bytes.withUnsafeBufferPointer { matches(path, in: FieldsInPlace(bytes: $0)) }
    }

    /// Like ``matches(_:among:)``, for a document in a collection that the query reads.
    package func matches(inside path: DocumentPath, among fields: EncodedFields) -> Bool {
        fields.bytes.withUnsafeBufferPointer { matches(inside: path, in: FieldsInPlace(bytes: $0)) }
    }

    private func matches(_ path: DocumentPath, in fields: some FieldSource) -> Bool {
        query.contains(path) && matches(inside: path, in: fields)
    }

    /// Tests the filter first: it rejects most documents, and most of those by one of their first
    /// fields.
    private func matches(inside path: DocumentPath, in fields: some FieldSource) -> Bool {
        let row = QueryRow(path: path, fields: fields, database: database)
        if let filter = query.filter, !filter.matches(row) { return false }
        guard orders.allSatisfy({ row.has($0.field) }) else { return false }
        if let start = query.start, compare(row, with: start) == .ascending { return false }
        if let end = query.end, compare(row, with: end) == .descending { return false }
        return true
    }

    /// Compares two matching documents in the query's order. Never equal for two paths.
    ///
    /// - Precondition: Both match the query.
    public func compare(
        _ left: (path: DocumentPath, fields: MapValue),
        _ right: (path: DocumentPath, fields: MapValue)
    ) -> Comparison {
        for order in orders {
            let result: Comparison
            if order.field.isDocumentID {
                result = DocumentPath.compare(left.path, right.path)
            } else {
                guard let a = left.fields[order.field], let b = right.fields[order.field] else {
                    preconditionFailure("a row without \(order.field) matched")
                }
                result = Value.compare(a, b)
            }
            if result != .equal { return order.direction == .ascending ? result : result.reversed }
        }
        return .equal
    }

    /// Compares the row with the cursor's edge. Never equal.
    private func compare(_ row: QueryRow<some FieldSource>, with cursor: Cursor) -> Comparison {
        for (order, value) in zip(orders, cursor.values) {
            guard let own = row.value(of: order.field) else { return .ascending }
            let result = Value.compare(own, value)
            if result != .equal { return order.direction == .ascending ? result : result.reversed }
        }
        return cursor.before ? .descending : .ascending
    }
}

/// A document as filters and orders see it: the name counts as a field.
struct QueryRow<Fields: FieldSource> {
    let path: DocumentPath
    let fields: Fields
    let database: DatabaseID

    func has(_ field: FieldPath) -> Bool { field.isDocumentID || fields[field] != nil }

    func value(of field: FieldPath) -> Value? {
        if field.isDocumentID {
            return .reference(ReferenceValue(database: database, path: path))
        }
        return fields[field]
    }
}
