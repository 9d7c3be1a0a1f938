/// Writes the parts of a query in one line, in the form of the console's query bar:
/// `where n >= 3`, `order by n desc`.
package struct QueryWords {
    /// Returns the text of one value of a filter.
    private let value: (Value) -> String
    /// Returns the text of a cursor's values, or of a vector.
    private let values: ([Value]) -> String
    /// True if filters with the same text are written once.
    private let mergesEqual: Bool

    package init(value: @escaping (Value) -> String, values: @escaping ([Value]) -> String) {
        self.value = value
        self.values = values
        mergesEqual = false
    }

    private init(placeholder: String) {
        value = { _ in placeholder }
        values = { _ in placeholder }
        mergesEqual = true
    }

    /// Writes `?` for each value, so that queries that differ in their values have the same text.
    package static var shape: QueryWords { QueryWords(placeholder: "?") }

    package func text(_ filter: Filter) -> String {
        switch filter {
        case .field(let field, let operation, let value):
            "\(field) \(operation.sign) \(self.value(value))"
        case .unary(let field, let operation): "\(field) \(operation.sign)"
        case .and(let filters): joined(filters, " and ")
        case .or(let filters): joined(filters, " or ")
        }
    }

    private func joined(_ filters: [Filter], _ word: String) -> String {
        var texts: [String] = []
        for filter in filters {
            let text = inner(filter)
            if mergesEqual, texts.contains(where: { $0.hasSameBytes(as: text) }) { continue }
            texts.append(text)
        }
        return texts.joined(separator: word)
    }

    private func inner(_ filter: Filter) -> String {
        switch filter {
        case .field, .unary: text(filter)
        case .and, .or: "(\(text(filter)))"
        }
    }

    /// Returns the filter, the orders and the cursors of a query.
    package func conditions(of query: Query) -> [String] {
        var parts: [String] = []
        if let filter = query.filter { parts.append("where \(text(filter))") }
        if !query.orders.isEmpty {
            let texts = query.orders.map {
                "\($0.field)" + ($0.direction == .descending ? " desc" : "")
            }
            parts.append("order by " + texts.joined(separator: ", "))
        }
        if let start = query.start {
            parts.append("start \(start.before ? "at" : "after") \(values(start.values))")
        }
        if let end = query.end {
            parts.append("end \(end.before ? "before" : "at") \(values(end.values))")
        }
        return parts
    }

    /// Returns the search for the nearest vectors without its limit; nil if there is none.
    package func nearest(of query: Query) -> String? {
        query.findNearest.map { search in
            let vector = values(search.vector.map { .double($0) })
            return "nearest \(search.field) to \(vector) by \(search.measure.word)"
        }
    }
}

extension Filter.Operator {
    /// The sign in the query bar.
    package var sign: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .equal: "=="
        case .notEqual: "!="
        case .arrayContains: "array-contains"
        case .isIn: "in"
        case .arrayContainsAny: "array-contains-any"
        case .notIn: "not-in"
        }
    }
}

extension Filter.UnaryOperator {
    package var sign: String {
        switch self {
        case .isNaN: "is NaN"
        case .isNull: "is null"
        case .isNotNaN: "is not NaN"
        case .isNotNull: "is not null"
        }
    }
}

extension FindNearest.DistanceMeasure {
    /// The word in the query bar.
    package var word: String {
        switch self {
        case .euclidean: "euclidean"
        case .cosine: "cosine"
        case .dotProduct: "dot-product"
        }
    }
}
