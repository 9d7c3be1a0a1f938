package import TidemarkModel

/// Computes the rows of a query by examining every document: the tests' own filter and sort.
///
/// Written from Firestore's documentation of queries ("Perform simple and compound queries", "Order
/// and limit data", "Paginate data with query cursors") and from recorded answers of production.
/// The code is deliberately slow and simple, and uses none of the product's filters and
/// comparisons.
package struct QueryOracle {
    private let query: Query
    private let database: DatabaseID
    private let orders: [(field: [String], isDescending: Bool)]

    /// - Precondition: The query is not a vector search, and returns whole documents.
    package init(_ query: Query, in database: DatabaseID) {
        precondition(query.findNearest == nil && query.projection == nil)
        self.query = query
        self.database = database
        orders = Self.orders(of: query)
    }

    package typealias Row = (path: DocumentPath, fields: MapValue)

    /// Returns the rows among `documents`, in the query's order.
    package func rows(of documents: [Row]) -> [Row] {
        var rows = allRows(of: documents)
        rows = Array(rows.dropFirst(query.offset))
        switch query.limit {
        case .first(let count)?: return Array(rows.prefix(count))
        case .last(let count)?: return Array(rows.suffix(count))
        case nil: return rows
        }
    }

    package func rows(of documents: [Document]) -> [Document] {
        let known = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        return rows(of: documents.map { ($0.path, $0.fields) }).map { known[$0.path]! }
    }

    /// Returns true if the document matches, ignoring limit and offset.
    package func matches(_ path: DocumentPath, _ fields: MapValue) -> Bool {
        guard isInScope(path) else { return false }
        if let filter = query.filter, !holds(filter, path: path, fields: fields) { return false }
        // A document that lacks an ordered field is in no index of the query.
        guard orders.allSatisfy({ value($0.field, path: path, fields: fields) != nil }) else {
            return false
        }
        if let start = query.start, side(of: path, fields, start) < 0 { return false }
        if let end = query.end, side(of: path, fields, end) > 0 { return false }
        return true
    }

    private func allRows(of documents: [Row]) -> [Row] {
        documents.filter { matches($0.path, $0.fields) }.sorted { left, right in
            for order in orders {
                let (a, b) = (value(order.field, left), value(order.field, right))
                let result = OracleOrder.compare(a!, b!)
                if result != 0 { return order.isDescending ? result > 0 : result < 0 }
            }
            return false
        }
    }

    // MARK: Which collection

    private func isInScope(_ path: DocumentPath) -> Bool {
        let segments = OracleOrder.segments(path.text)
        let parent = query.parent.map { OracleOrder.segments($0.text) } ?? []
        let collection = segments.dropLast()
        guard collection.count > parent.count, Array(segments.prefix(parent.count)) == parent else {
            return false
        }
        if let id = query.collectionID, collection.last != Array(id.utf8) { return false }
        return query.allDescendants || collection.count == parent.count + 1
    }

    // MARK: The order

    /// Returns the explicit orders, then the fields of inequalities sorted by name, then the
    /// document's name. The added orders take the direction of the last explicit order.
    private static func orders(of query: Query) -> [(field: [String], isDescending: Bool)] {
        var orders = query.orders.map { ($0.field.segments, $0.direction == .descending) }
        let isDescending = orders.last?.1 ?? false
        func isThere(_ field: [String]) -> Bool { orders.contains { isSame($0.0, field) } }
        let unordered = inequalities(query.filter).filter { !$0.isEmpty && $0 != [name] }
        for field in unordered.sorted(by: { isBelow($0, $1) }) where !isThere(field) {
            orders.append((field, isDescending))
        }
        if !isThere([name]) { orders.append(([name], isDescending)) }
        return orders
    }

    private static let name = "__name__"

    private static func inequalities(_ filter: Filter?) -> [[String]] {
        switch filter {
        case nil: []
        case .and(let parts)?, .or(let parts)?: parts.flatMap { inequalities($0) }
        case .unary(let field, .isNotNull)?, .unary(let field, .isNotNaN)?: [field.segments]
        case .unary?: []
        case .field(let field, let operation, _)?:
            switch operation {
            case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .notIn:
                [field.segments]
            case .equal, .arrayContains, .isIn, .arrayContainsAny: []
            }
        }
    }

    private static func isSame(_ left: [String], _ right: [String]) -> Bool {
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
    }

    private static func isBelow(_ left: [String], _ right: [String]) -> Bool {
        for (a, b) in zip(left, right) {
            let result = OracleOrder.bytes(Array(a.utf8), Array(b.utf8))
            if result != 0 { return result < 0 }
        }
        return left.count < right.count
    }

    /// Returns a negative number for a row before the cursor's position, and a positive number for
    /// a row after it.
    private func side(of path: DocumentPath, _ fields: MapValue, _ cursor: Cursor) -> Int {
        for (order, place) in zip(orders, cursor.values) {
            let result = OracleOrder.compare(value(order.field, path: path, fields: fields)!, place)
            if result != 0 { return order.isDescending ? -result : result }
        }
        // The row equals the cursor's values: the position is before or after all such rows.
        return cursor.before ? 1 : -1
    }

    // MARK: Fields

    private func value(_ field: [String], _ row: Row) -> Value? {
        value(field, path: row.path, fields: row.fields)
    }

    /// Returns nil if the document lacks the field. Null is a value.
    private func value(_ field: [String], path: DocumentPath, fields: MapValue) -> Value? {
        if field == [Self.name] {
            return .reference(ReferenceValue(database: database, path: path))
        }
        var map = fields
        for (place, segment) in field.enumerated() {
            let wanted = Array(segment.utf8)
            guard let entry = map.first(where: { Array($0.key.utf8) == wanted }) else { return nil }
            if place == field.count - 1 { return entry.value }
            guard case .map(let inner) = entry.value else { return nil }
            map = inner
        }
        return nil
    }
}

// MARK: - Filters

extension QueryOracle {
    private func holds(_ filter: Filter, path: DocumentPath, fields: MapValue) -> Bool {
        switch filter {
        case .and(let parts): return parts.allSatisfy { holds($0, path: path, fields: fields) }
        case .or(let parts):
            // Ignores parts without effect. An `or` of only such parts matches everything.
            let saying = parts.filter { Self.saysSomething($0) }
            return saying.isEmpty || saying.contains { holds($0, path: path, fields: fields) }
        case .unary(let field, let operation):
            guard let own = value(field.segments, path: path, fields: fields) else { return false }
            return Self.holds(operation, own)
        case .field(let field, let operation, let operand):
            guard let own = value(field.segments, path: path, fields: fields) else { return false }
            return Self.holds(operation, own: own, operand: operand)
        }
    }

    private static func saysSomething(_ filter: Filter) -> Bool {
        switch filter {
        case .and(let parts), .or(let parts): parts.contains { saysSomething($0) }
        case .unary, .field: true
        }
    }

    private static func holds(_ operation: Filter.UnaryOperator, _ own: Value) -> Bool {
        switch operation {
        case .isNull: OracleOrder.isNull(own)
        case .isNotNull: !OracleOrder.isNull(own)
        case .isNaN: OracleOrder.isNaN(own)
        case .isNotNaN: !OracleOrder.isNaN(own) && !OracleOrder.isNull(own)
        }
    }

    private static func holds(
        _ operation: Filter.Operator, own: Value, operand: Value
    ) -> Bool {
        // A comparison with null or NaN matches nothing. Only unary filters match them.
        let isPlain = !OracleOrder.isNull(operand) && !OracleOrder.isNaN(operand)
        let isInRange =
            isPlain && OracleOrder.areOfOneKind(own, operand) && !OracleOrder.isNaN(own)
        let result = OracleOrder.compare(own, operand)
        switch operation {
        case .lessThan: return isInRange && result < 0
        case .lessThanOrEqual: return isInRange && result <= 0
        case .greaterThan: return isInRange && result > 0
        case .greaterThanOrEqual: return isInRange && result >= 0
        case .equal: return isPlain && result == 0
        case .notEqual: return isPlain && !OracleOrder.isNull(own) && result != 0
        case .arrayContains: return isPlain && contains(own, operand)
        case .isIn: return plain(operand).contains { OracleOrder.compare(own, $0) == 0 }
        case .arrayContainsAny: return plain(operand).contains { contains(own, $0) }
        case .notIn:
            // A list with null matches nothing; NaN in a list is an ordinary value.
            let values = elements(operand)
            return !OracleOrder.isNull(own) && !values.contains { OracleOrder.isNull($0) }
                && !values.contains { OracleOrder.compare(own, $0) == 0 }
        }
    }

    private static func contains(_ own: Value, _ element: Value) -> Bool {
        elements(own).contains { OracleOrder.compare($0, element) == 0 }
    }

    private static func elements(_ value: Value) -> [Value] {
        if case .array(let elements) = value { elements } else { [] }
    }

    private static func plain(_ value: Value) -> [Value] {
        elements(value).filter { !OracleOrder.isNull($0) && !OracleOrder.isNaN($0) }
    }
}
