import TidemarkModel

/// A query, and the aggregations of its rows; without aggregations the rows themselves.
struct AskedQuery: Hashable, Sendable {
    var query: ModelQuery
    var aggregations: [Aggregation] = []
}

extension QueryText {
    /// Reads the part before the last `of`, if there is one, as in
    /// `count, sum of n, average of n of rooms …`.
    mutating func aggregations() throws(QueryTextError) -> [Aggregation] {
        guard startsAggregation else { return [] }
        var result: [Aggregation] = []
        repeat { result.append(try aggregation()) } while takeSign(",")
        guard takeWord("of") else {
            throw QueryTextError("Expected \"of\" and a collection after the aggregation.")
        }
        return result
    }

    /// True if the first word is no collection's name.
    private var startsAggregation: Bool {
        switch (peek(0), peek(1)) {
        case ("count", "of"), ("count", ","), ("count", "up"), ("sum", "of"), ("average", "of"):
            true
        default: false
        }
    }

    private mutating func aggregation() throws(QueryTextError) -> Aggregation {
        if takeWord("count") {
            guard takeWord("up") else { return Aggregation(alias: "count", .count(upTo: nil)) }
            guard takeWord("to") else { throw QueryTextError("Expected \"to\" after \"up\".") }
            return Aggregation(
                alias: "count", .count(upTo: Int64(try count(after: "up to"))))
        }
        let isSum = takeWord("sum")
        guard isSum || takeWord("average"), takeWord("of") else {
            throw QueryTextError("Expected count, sum of FIELD or average of FIELD.")
        }
        let field = try fieldPath()
        return isSum
            ? Aggregation(alias: "sum of \(field)", .sum(field))
            : Aggregation(alias: "average of \(field)", .average(field))
    }

    /// Reads the part after `nearest` in `nearest embedding to [1, 2] by cosine limit 10`.
    mutating func nearest() throws(QueryTextError) -> FindNearest {
        let field = try fieldPath()
        guard takeWord("to"), case .array(let values) = try value() else {
            throw QueryTextError("Expected \"to\" and a list of numbers after \"nearest FIELD\".")
        }
        let vector = try numbers(values)
        guard takeWord("by") else {
            throw QueryTextError("Expected a distance: by euclidean, by cosine or by dot-product.")
        }
        let measure: FindNearest.DistanceMeasure
        if takeWord("euclidean") {
            measure = .euclidean
        } else if takeWord("cosine") {
            measure = .cosine
        } else if takeWord("dot-product") {
            measure = .dotProduct
        } else {
            throw QueryTextError("The distance must be euclidean, cosine or dot-product.")
        }
        let limit = takeWord("limit") ? try count(after: "limit") : 10
        return FindNearest(field: field, vector: vector, measure: measure, limit: limit)
    }
}
