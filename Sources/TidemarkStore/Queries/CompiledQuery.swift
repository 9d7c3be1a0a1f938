import TidemarkModel

/// A query prepared for planning and testing: a limit to the last rows has become a limit to the
/// first rows in the reversed order.
///
/// A class, because a plan, its candidates and its streams all keep the query; copying a struct
/// took a third of the time of a small query.
final class CompiledQuery {
    let query: Query
    let database: DatabaseID
    /// The orders, including the implicit ones.
    let orders: [Order]
    let filter: CompiledFilter?
    /// True if all rows are documents of one collection.
    let isOfOneCollection: Bool
    /// The range that the cursors allow for a row's ``orderKey(_:_:)``.
    private let cursors: KeyRange?

    init(_ query: Query, in database: DatabaseID) {
        let query = query.wireForm
        self.query = query
        isOfOneCollection = query.collection != nil
        self.database = database
        orders = query.normalizedOrders
        filter = query.filter.map(CompiledFilter.init)
        cursors = Self.cursors(query, orders)
    }

    private static func cursors(_ query: Query, _ orders: [Order]) -> KeyRange? {
        if query.start == nil, query.end == nil { return nil }
        var range = KeyRange.all
        if let start = query.start { range.raise(to: cut(start, orders)) }
        if let end = query.end { range.drop(to: cut(end, orders)) }
        return range
    }

    private static func cut(_ cursor: Cursor, _ orders: [Order]) -> Cut {
        var writer = KeyWriter()
        for (order, value) in zip(orders, cursor.values) { writer.append(value, order.direction) }
        return Cut(prefix: writer.bytes, isAfter: !cursor.before)
    }

    /// The orders up to the document's name. Orders after the name decide nothing.
    var decidingOrders: ArraySlice<Order> {
        let name = orders.firstIndex { $0.field.isDocumentID }!
        return orders[...name]
    }

    func value(
        _ field: FieldPath, path: () -> DocumentPath, fields: some FieldSource
    ) -> Value? {
        field.isDocumentID
            ? .reference(ReferenceValue(database: database, path: path())) : fields[field]
    }

    /// Returns the bytes by which rows sort in the query's order; nil if an ordered field is
    /// missing.
    func orderKey(
        _ path: @autoclosure () -> DocumentPath, _ fields: some FieldSource
    ) -> [UInt8]? {
        var writer = KeyWriter()
        return writeOrderKey(path(), fields: fields, writer: &writer) ? writer.bytes : nil
    }

    /// Appends the order key to `writer`.
    ///
    /// - Returns: False if an ordered field is missing. The bytes written are then not a key.
    func writeOrderKey(
        _ path: @autoclosure () -> DocumentPath, fields: some FieldSource,
        writer: inout KeyWriter
    ) -> Bool {
        for order in orders {
            guard let value = value(order.field, path: path, fields: fields) else { return false }
            writer.append(value, order.direction)
        }
        return true
    }

    /// Returns true if the document is a row of the query, ignoring limit and offset.
    ///
    /// - Parameter filter: The query's filter, or one alternative of it.
    func matches(
        _ path: DocumentPath, fields: some FieldSource, filter: CompiledFilter?
    ) -> Bool {
        query.contains(path) && matches(inside: path, fields, filter)
    }

    /// Like ``matches(_:fields:filter:)``, for a document in a collection that the query reads.
    func matches(
        inside path: @autoclosure () -> DocumentPath, _ fields: some FieldSource,
        _ filter: CompiledFilter?
    ) -> Bool {
        if let filter {
            let matches = filter.matches(
                { value($0, path: path, fields: fields) },
                hasText: { fields.holds(text: $1, at: $0) })
            if !matches { return false }
        }
        guard let cursors else {
            return orders.allSatisfy { $0.field.isDocumentID || fields[$0.field] != nil }
        }
        return orderKey(path(), fields).map(cursors.contains) ?? false
    }
}
