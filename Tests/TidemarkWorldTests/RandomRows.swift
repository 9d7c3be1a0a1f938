import TidemarkModel
import TidemarkTesting

/// Documents, writes and queries of so few fields and values that they often meet.
extension SeededRandom {
    static let fields = ["a", "b", "tags", "m.x"].map { try! FieldPath(encoded: $0) }
    static let database = try! DatabaseID(project: "cases")

    mutating func row() -> DocumentPath {
        let collection = pick(["rooms", "rooms", "rooms", "rooms/a/rooms", "x/y/rooms", "other"])
        return DocumentPath(unchecked: "\(collection)/\(pick(["a", "b", "é", "z"]))\(roll(9))")
    }

    mutating func scalar() -> Value {
        switch roll(11) {
        case 0: .null
        case 1: .double(pick([.nan, -0.0, 0.5, 1, 2.5]))
        case 2: .string(pick(["", "a", "é", "e\u{301}", "z"]))
        case 3: .boolean(chance(50))
        case 4: .timestamp(Timestamp(seconds: Int64(roll(3)), nanoseconds: 0))
        case 5: name()
        default: .integer(Int64(roll(5)))
        }
    }

    mutating func name() -> Value {
        .reference(ReferenceValue(database: Self.database, path: row()))
    }

    mutating func contents() -> MapValue {
        var fields = MapValue()
        if chance(85) { fields["a"] = scalar() }
        if chance(85) { fields["b"] = scalar() }
        if chance(70) {
            fields["tags"] = chance(85) ? .array((0..<roll(4)).map { _ in scalar() }) : scalar()
        }
        if chance(60) { fields["m"] = chance(85) ? .map(["x": scalar()]) : scalar() }
        return fields
    }

    /// One whose effect is the same when it is made again on a newer document.
    mutating func mutation() -> Mutation {
        let path = row()
        switch roll(6) {
        case 0: return Mutation(path: path, .delete)
        case 1, 2: return Mutation(path: path, .set(contents()))
        case 3:
            return Mutation(
                path: path, .patch(["a": scalar()], mask: [Self.fields[0], Self.fields[3]]))
        case 4:
            let tags = [scalar(), scalar()]
            return Mutation(
                path: path, .patch([:], mask: []),
                transforms: [
                    FieldTransform(
                        Self.fields[2], chance(60) ? .arrayUnion(tags) : .arrayRemove(tags))
                ])
        default:
            return Mutation(
                path: path, .patch([:], mask: []),
                transforms: [FieldTransform(Self.fields[1], .serverTimestamp)])
        }
    }

    mutating func filter(depth: Int = 2) -> Filter {
        if depth > 0, chance(50) {
            let parts = (0..<(1 + roll(3))).map { _ in filter(depth: depth - 1) }
            return chance(60) ? .and(parts) : .or(parts)
        }
        if chance(10) { return .unary(pick(Self.fields), pick(Filter.UnaryOperator.allCases)) }
        if chance(12) {
            let operations: [Filter.Operator] = [
                .equal, .lessThan, .greaterThanOrEqual, .greaterThan, .lessThanOrEqual, .notEqual,
            ]
            return chance(25)
                ? .field(.documentID, .isIn, .array((0..<3).map { _ in name() }))
                : .field(.documentID, pick(operations), name())
        }
        let operation = chance(35) ? .equal : pick(Filter.Operator.allCases)
        switch operation {
        case .isIn, .arrayContainsAny, .notIn:
            return .field(
                pick(Self.fields), operation, .array((0..<(1 + roll(3))).map { _ in scalar() }))
        default: return .field(pick(Self.fields), operation, scalar())
        }
    }

    mutating func query() -> Query {
        var query = Query(collectionID: "rooms")
        if chance(10) { query.parent = DocumentPath(unchecked: "rooms/a") }
        if chance(25) { query.allDescendants = true }
        if chance(75) { query.filter = filter() }
        var fields = Self.fields + [.documentID]
        for _ in 0..<roll(3) {
            let field = fields.remove(at: roll(fields.count))
            query.orders.append(Order(field, chance(50) ? .ascending : .descending))
        }
        if chance(25) { query.start = cursor(query) }
        if chance(25) { query.end = cursor(query) }
        if chance(15) { query.offset = roll(6) }
        if chance(45) { query.limit = chance(60) ? .first(roll(8)) : .last(roll(8)) }
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
