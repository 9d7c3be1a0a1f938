import TidemarkModel

/// A document of a small database, with fields of a few types.
struct OracleDocument {
    var fields: [String: Value] = [:]

    var map: MapValue { MapValue(fields.map { ($0.key, $0.value) }) }
}

/// Decides which documents match a query. This code shares nothing with the model's code.
enum QueryOracle {
    static func matches(_ query: Query, _ document: OracleDocument) -> Bool {
        if let filter = query.filter {
            if !holds(filter, document) { return false }
            // An inequality orders by its field, in every part of an "or". A document without the
            // field does not match.
            for field in inequalities(filter) where document.fields["\(field)"] == nil {
                return false
            }
        }
        guard let order = query.orders.first else { return true }
        guard let value = document.fields["\(order.field)"] else { return false }
        for order in query.orders where document.fields["\(order.field)"] == nil { return false }
        let sign = order.direction == .ascending ? 1 : -1
        if let start = query.start, let first = start.values.first {
            let place = sign * compare(value, first)
            if place < 0 || (place == 0 && !start.before) { return false }
        }
        if let end = query.end, let last = end.values.first {
            let place = sign * compare(value, last)
            if place > 0 || (place == 0 && end.before) { return false }
        }
        return true
    }

    private static func inequalities(_ filter: Filter) -> [FieldPath] {
        switch filter {
        case .and(let filters), .or(let filters): filters.flatMap(inequalities)
        case .unary(let field, let test): [.isNotNull, .isNotNaN].contains(test) ? [field] : []
        case .field(let field, let test, _):
            [.equal, .arrayContains, .isIn, .arrayContainsAny].contains(test) ? [] : [field]
        }
    }

    private static func holds(_ filter: Filter, _ document: OracleDocument) -> Bool {
        switch filter {
        case .and(let filters): return filters.allSatisfy { holds($0, document) }
        case .or(let filters): return filters.contains { holds($0, document) }
        case .unary(let field, let test):
            guard let value = document.fields["\(field)"] else { return false }
            return switch test {
            case .isNull: rank(value) == 0
            case .isNotNull: rank(value) != 0
            case .isNaN: number(value)?.isNaN ?? false
            case .isNotNaN: rank(value) != 0 && !(number(value)?.isNaN ?? false)
            }
        case .field(let field, let test, let operand):
            guard let value = document.fields["\(field)"] else { return false }
            return holds(test, value, operand)
        }
    }

    private static func holds(_ test: Filter.Operator, _ value: Value, _ operand: Value) -> Bool {
        let isSameRank = rank(value) == rank(operand)
        let order = compare(value, operand)
        switch test {
        case .equal: return order == 0
        case .notEqual: return rank(value) != 0 && order != 0
        case .lessThan: return isSameRank && order < 0
        case .lessThanOrEqual: return isSameRank && order <= 0
        case .greaterThan: return isSameRank && order > 0
        case .greaterThanOrEqual: return isSameRank && order >= 0
        case .arrayContains: return elements(value).contains { compare($0, operand) == 0 }
        case .isIn: return elements(operand).contains { compare($0, value) == 0 }
        case .arrayContainsAny:
            return elements(value).contains { element in
                elements(operand).contains { compare($0, element) == 0 }
            }
        case .notIn:
            return rank(value) != 0 && !elements(operand).contains { compare($0, value) == 0 }
        }
    }

    static func rank(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .boolean: 1
        case .integer, .double: 2
        case .string: 3
        default: 4
        }
    }

    static func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    static func elements(_ value: Value) -> [Value] {
        if case .array(let values) = value { values } else { [] }
    }

    static func compare(_ a: Value, _ b: Value) -> Int {
        if rank(a) != rank(b) { return rank(a) < rank(b) ? -1 : 1 }
        switch (a, b) {
        case (.boolean(let x), .boolean(let y)): return (x ? 1 : 0) - (y ? 1 : 0)
        case (.string(let x), .string(let y)): return x == y ? 0 : (x < y ? -1 : 1)
        case (.array(let x), .array(let y)):
            for (p, q) in zip(x, y) where compare(p, q) != 0 { return compare(p, q) }
            return x.count - y.count
        default:
            guard let x = number(a), let y = number(b) else { return 0 }
            return x == y ? 0 : (x < y ? -1 : 1)
        }
    }
}
