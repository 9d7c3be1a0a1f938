import TidemarkModel

/// A query in a case's JSON: `{"list": "rooms", "where": [["owner", "==", "ann"]], "limit": 10}`.
enum CaseQuery {
    static func query(
        _ path: String, _ fields: JSONObject
    ) throws(RulesCaseError) -> Query {
        var query: Query
        if case .bool(true)? = fields["group"] {
            query = Query(collectionID: path, allDescendants: true)
        } else {
            do throws(InvalidPath) { query = Query(collection: try CollectionPath(path)) } catch {
                throw RulesCaseError(error.message)
            }
        }
        var filters: [Filter] = []
        for condition in fields["where"]?.elements ?? [] { filters.append(try filter(condition)) }
        if !filters.isEmpty { query.filter = filters.count == 1 ? filters[0] : .and(filters) }
        for order in fields["orderBy"]?.elements ?? [] {
            let words = order.text?.split(separator: " ").map(String.init) ?? []
            guard let name = words.first, words.count == 1 || ["asc", "desc"].contains(words[1])
            else {
                throw RulesCaseError("\"orderBy\" must be a list, as in [\"at desc\", \"name\"].")
            }
            query.orders.append(
                Order(try field(name), words.last == "desc" ? .descending : .ascending))
        }
        switch fields["limit"] {
        case nil: break
        case .integer(let count)? where (1...Int64(Int32.max)).contains(count):
            query.limit = .first(Int(count))
        default: throw RulesCaseError("\"limit\" must be a whole number of at least 1.")
        }
        do throws(RPCStatus) { try query.validate() } catch {
            throw RulesCaseError(error.message)
        }
        return query
    }

    private static func field(_ text: String) throws(RulesCaseError) -> FieldPath {
        do throws(InvalidPath) { return try FieldPath(encoded: text) } catch {
            throw RulesCaseError(error.message)
        }
    }

    private static let operators: [String: Filter.Operator] = [
        "<": .lessThan, "<=": .lessThanOrEqual, ">": .greaterThan, ">=": .greaterThanOrEqual,
        "==": .equal, "!=": .notEqual, "array-contains": .arrayContains, "in": .isIn,
        "array-contains-any": .arrayContainsAny, "not-in": .notIn,
    ]

    private static func filter(_ json: JSONValue) throws(RulesCaseError) -> Filter {
        let parts = json.elements
        guard parts.count == 3, let name = parts[0].text, let word = parts[1].text,
            let test = operators[word]
        else {
            let words = operators.keys.sorted().joined(separator: " ")
            throw RulesCaseError(
                "A filter must be [field, operator, value], with one of the operators \(words).")
        }
        let operand = try CaseValue.stored(parts[2])
        let field = try field(name)
        switch (operand, test) {
        case (.null, .equal): return .unary(field, .isNull)
        case (.null, .notEqual): return .unary(field, .isNotNull)
        default: return .field(field, test, operand)
        }
    }
}
