package import TidemarkModel

/// Random documents, writes and queries with so few fields and values that they often match.
package struct RandomRows: Sendable {
    package let database: DatabaseID
    package let collectionID: String
    /// The fields that queries use. ``contents(_:)`` makes a document's fields.
    package let fields: [FieldPath]
    private let path: @Sendable (inout SeededRandom) -> DocumentPath
    /// True if queries go beyond one collection.
    private let hasGroups: Bool

    package init(
        database: DatabaseID, collectionID: String, fields: [FieldPath], hasGroups: Bool,
        path: @escaping @Sendable (inout SeededRandom) -> DocumentPath
    ) {
        self.database = database
        self.collectionID = collectionID
        self.fields = fields
        self.hasGroups = hasGroups
        self.path = path
    }

    // MARK: Values

    package func row(_ dice: inout SeededRandom) -> DocumentPath { path(&dice) }

    package func scalar(_ dice: inout SeededRandom) -> Value {
        switch dice.roll(15) {
        case 0: .null
        case 1: .double(dice.pick([.nan, -0.0, 0.5, 1, 2.5, 0x1p53]))
        case 2: .string(dice.pick(["", "a", "é", "e\u{301}", "z"]))
        case 3: .boolean(dice.chance(50))
        case 4: .timestamp(Timestamp(seconds: Int64(dice.roll(3)), nanoseconds: 0))
        case 5: name(&dice)
        case 6: .bytes(dice.pick([[], [0], [0, 1], [255]]))
        case 7: rare(&dice)
        default: .integer(Int64(dice.roll(5)))
        }
    }

    private func rare(_ dice: inout SeededRandom) -> Value {
        switch dice.roll(4) {
        case 0:
            .geoPoint(
                GeoPoint(latitude: dice.pick([-1, 0, 1]), longitude: dice.pick([0, -0.0, 2])))
        case 1: .vector(VectorValue(dice.pick([[1], [2], [0, 1], [0, -0.0]])))
        case 2: .map(dice.pick([[:], ["x": .integer(1)], ["x": .null, "y": .integer(0)]]))
        // Integers next to those that a double cannot distinguish.
        default: .integer(dice.pick([(1 << 53) + 1, 1 << 53, .min, .max]))
        }
    }

    package func name(_ dice: inout SeededRandom) -> Value {
        .reference(ReferenceValue(database: database, path: row(&dice)))
    }

    package func contents(_ dice: inout SeededRandom) -> MapValue {
        var fields = MapValue()
        if dice.chance(85) { fields["a"] = scalar(&dice) }
        if dice.chance(85) { fields["b"] = scalar(&dice) }
        if dice.chance(70) {
            fields["tags"] =
                dice.chance(85)
                ? .array((0..<dice.roll(4)).map { _ in scalar(&dice) }) : scalar(&dice)
        }
        if dice.chance(60) {
            fields["m"] = dice.chance(85) ? .map(["x": scalar(&dice)]) : scalar(&dice)
        }
        return fields
    }

    // MARK: Queries

    package func filter(_ dice: inout SeededRandom, depth: Int = 2) -> Filter {
        if depth > 0, dice.chance(50) {
            let parts = (0..<(1 + dice.roll(3))).map { _ in filter(&dice, depth: depth - 1) }
            return dice.chance(60) ? .and(parts) : .or(parts)
        }
        if dice.chance(10) {
            return .unary(dice.pick(fields), dice.pick(Filter.UnaryOperator.allCases))
        }
        if dice.chance(12) { return comparisonOfNames(&dice) }
        let operation = dice.chance(35) ? .equal : dice.pick(Filter.Operator.allCases)
        switch operation {
        case .isIn, .arrayContainsAny, .notIn:
            let values = (0..<(1 + dice.roll(3))).map { _ in scalar(&dice) }
            return .field(dice.pick(fields), operation, .array(values))
        default: return .field(dice.pick(fields), operation, scalar(&dice))
        }
    }

    private func comparisonOfNames(_ dice: inout SeededRandom) -> Filter {
        let operations: [Filter.Operator] = [
            .equal, .lessThan, .greaterThanOrEqual, .greaterThan, .lessThanOrEqual, .notEqual,
        ]
        return dice.chance(25)
            ? .field(.documentID, .isIn, .array((0..<3).map { _ in name(&dice) }))
            : .field(.documentID, dice.pick(operations), name(&dice))
    }

    package func query(_ dice: inout SeededRandom) -> Query {
        var query = Query(collectionID: collectionID)
        if hasGroups {
            if dice.chance(10) { query.parent = DocumentPath(unchecked: "\(collectionID)/a") }
            if dice.chance(25) { query.allDescendants = true }
        }
        if dice.chance(75) { query.filter = filter(&dice) }
        var fields = fields + [.documentID]
        for _ in 0..<dice.roll(3) {
            let field = fields.remove(at: dice.roll(fields.count))
            query.orders.append(Order(field, dice.chance(50) ? .ascending : .descending))
        }
        if dice.chance(25) { query.start = cursor(query, &dice) }
        if dice.chance(25) { query.end = cursor(query, &dice) }
        if dice.chance(15) { query.offset = dice.roll(6) }
        if dice.chance(45) {
            query.limit = dice.chance(60) ? .first(dice.roll(8)) : .last(dice.roll(8))
        }
        return query
    }

    private func cursor(_ query: Query, _ dice: inout SeededRandom) -> Cursor {
        let orders = query.normalizedOrders
        let values = orders.prefix(1 + dice.roll(orders.count)).map { order in
            order.field.isDocumentID && dice.chance(90) ? name(&dice) : scalar(&dice)
        }
        return Cursor(values: values, before: dice.chance(50))
    }
}
