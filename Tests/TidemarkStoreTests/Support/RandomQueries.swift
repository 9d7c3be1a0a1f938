import TidemarkModel
import TidemarkStore

/// Random queries over few collections, fields and values, so that most find something.
extension Dice {
    static let fields = ["a", "b", "tags", "m.x"].map { try! FieldPath(encoded: $0) }

    mutating func documentPath() -> DocumentPath {
        let collection = pick([
            "rooms", "rooms", "rooms", "rooms/a/rooms", "rooms/b/rooms", "x/y/rooms",
        ])
        return DocumentPath(unchecked: "\(collection)/\(id())\(roll(8))")
    }

    mutating func scalar() -> Value {
        switch roll(12) {
        case 0: .null
        case 1: .double(.nan)
        case 2: .double(Double(roll(6)) / 2)
        case 3: .string(pick(["", "a", "é", "z"]))
        case 4: .boolean(chance(50))
        case 5: .timestamp(Timestamp(seconds: Int64(roll(3)), nanoseconds: 0))
        case 6: .reference(ReferenceValue(database: testDatabase, path: documentPath()))
        default: .integer(Int64(roll(5)))
        }
    }

    mutating func document() -> StoredDocument {
        let path = documentPath()
        if chance(5) { return missing(path.text) }
        var fields = MapValue()
        if chance(90) { fields["a"] = scalar() }
        if chance(90) { fields["b"] = scalar() }
        if chance(70) {
            fields["tags"] = chance(85) ? .array((0..<roll(4)).map { _ in scalar() }) : scalar()
        }
        if chance(70) { fields["m"] = chance(85) ? .map(["x": scalar()]) : scalar() }
        return found(path.text, fields, at: Int64(roll(1_000)))
    }

    mutating func operand(_ operation: Filter.Operator) -> Value {
        switch operation {
        case .isIn, .arrayContainsAny, .notIn: .array((0..<(1 + roll(3))).map { _ in scalar() })
        default: chance(10) ? .array((0..<roll(3)).map { _ in scalar() }) : scalar()
        }
    }

    mutating func name() -> Value {
        .reference(
            ReferenceValue(database: testDatabase, path: chance(90) ? documentPath() : path()))
    }

    mutating func comparison() -> Filter {
        if chance(10) { return .unary(pick(Self.fields), pick(Filter.UnaryOperator.allCases)) }
        if chance(10) {
            if chance(20) {
                return .field(.documentID, .isIn, .array((0..<3).map { _ in name() }))
            }
            let operations: [Filter.Operator] = [
                .equal, .lessThan, .greaterThanOrEqual, .greaterThan, .lessThanOrEqual, .notEqual,
            ]
            return .field(.documentID, pick(operations), name())
        }
        let operation = chance(40) ? .equal : pick(Filter.Operator.allCases)
        return .field(pick(Self.fields), operation, operand(operation))
    }

    mutating func filter(depth: Int = 2) -> Filter {
        if depth == 0 || chance(50) { return comparison() }
        let parts = (0..<(1 + roll(3))).map { _ in filter(depth: depth - 1) }
        return chance(65) ? .and(parts) : .or(parts)
    }

    mutating func query() -> Query {
        var query = Query(collectionID: "rooms")
        switch roll(10) {
        case 0: query.parent = DocumentPath(unchecked: "rooms/a")
        case 1, 2: query.allDescendants = true
        case 3:
            query.allDescendants = true
            query.parent = DocumentPath(unchecked: pick(["rooms/a", "x/y"]))
        case 4:
            query.collectionID = nil
            query.allDescendants = chance(80)
            if chance(50) { query.parent = DocumentPath(unchecked: "rooms/a") }
        default: break
        }
        if chance(75) { query.filter = filter() }
        var fields = Self.fields + [.documentID]
        for _ in 0..<roll(3) {
            let field = fields.remove(at: roll(fields.count))
            query.orders.append(Order(field, chance(50) ? .ascending : .descending))
        }
        if chance(25) { query.start = cursor(query) }
        if chance(25) { query.end = cursor(query) }
        if chance(20) { query.offset = roll(6) }
        if chance(40) { query.limit = chance(60) ? .first(roll(8)) : .last(roll(8)) }
        return query
    }

    private mutating func cursor(_ query: Query) -> Cursor {
        let orders = query.normalizedOrders
        let values = orders.prefix(1 + roll(orders.count)).map { order in
            order.field.isDocumentID && chance(90) ? name() : scalar()
        }
        return Cursor(values: values, before: chance(50))
    }
}
