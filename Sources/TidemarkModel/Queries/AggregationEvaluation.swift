extension Aggregation {
    /// Validates the aggregations and adds missing aliases.
    ///
    /// - Throws: ``RPCStatus`` of code `invalidArgument`, with production's text.
    public static func validated(_ aggregations: [Aggregation]) throws(RPCStatus) -> [Aggregation] {
        if aggregations.isEmpty { throw .invalidArgument("Aggregations can not be empty.") }
        if aggregations.count > QueryLimits.aggregations {
            throw RPCStatus(
                .invalidArgument,
                "The maximum number of aggregations allowed in an aggregation query is "
                    + "\(QueryLimits.aggregations). Received: \(aggregations.count)",
                details: [.reason("TOO_MANY_AGGREGATIONS")])
        }
        let named = withDefaultAliases(aggregations)
        for (index, aggregation) in named.enumerated() {
            try aggregation.validate()
            if named[..<index].contains(where: { $0.alias.hasSameBytes(as: aggregation.alias) }) {
                throw .invalidArgument(
                    "Aggregation aliases contain duplicate alias: \(aggregation.alias).")
            }
        }
        return named
    }

    /// Gives aggregations without an alias the names `field_1`, `field_2` and so on. Aggregations
    /// with an alias do not count.
    public static func withDefaultAliases(_ aggregations: [Aggregation]) -> [Aggregation] {
        var unnamed = 0
        return aggregations.map { aggregation in
            guard aggregation.alias.isEmpty else { return aggregation }
            unnamed += 1
            return Aggregation(alias: "field_\(unnamed)", aggregation.operation)
        }
    }

    private func validate() throws(RPCStatus) {
        if case .count(let bound?) = operation, bound < 0 {
            throw .invalidArgument(
                "The `up_to` value in a COUNT aggregation must be greater than or equal to zero.")
        }
        for name in [alias] + (field?.segments ?? []) {
            if name.utf8.count > QueryLimits.fieldPathBytes {
                throw .invalidArgument("The property.name is longer than 1500 bytes.")
            }
            if FieldPath.isReserved(name) {
                throw .invalidArgument("The property.name \"\(name)\" is reserved.")
            }
        }
    }

    /// The field that the aggregation reads; nil for a count.
    public var field: FieldPath? {
        switch operation {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }

    /// Returns the results over all rows, by alias. Uses one ``AggregationState``.
    public static func evaluate(
        _ aggregations: [Aggregation], over rows: some Sequence<MapValue>
    ) -> MapValue {
        var state = AggregationState(aggregations)
        for fields in rows { state.add(fields) }
        return state.result
    }
}

/// Computes several aggregations over the same rows, one row at a time. Keeps no rows.
///
/// A row that lacks a field that *any* of the aggregations reads counts for none of them, as in
/// production. Sums and averages ignore a field that is not a number.
public struct AggregationState: Hashable, Sendable {
    private var figures: [Figure]
    private let fields: [FieldPath]
    private var rows: Int64 = 0

    private struct Figure: Hashable, Sendable {
        let aggregation: Aggregation
        var sum = Sum()
    }

    /// - Parameter aggregations: Validated aggregations. Missing aliases get the default.
    public init(_ aggregations: [Aggregation]) {
        let named = Aggregation.withDefaultAliases(aggregations)
        figures = named.map { Figure(aggregation: $0) }
        fields = named.compactMap(\.field)
    }

    /// True if further rows cannot change the result, because there are only bounded counts and all
    /// have reached their bound.
    public var isComplete: Bool {
        figures.allSatisfy { figure in
            if case .count(let bound?) = figure.aggregation.operation {
                rows >= bound
            } else {
                false
            }
        }
    }

    public mutating func add(_ row: MapValue) {
        guard fields.allSatisfy({ row[$0] != nil }) else { return }
        rows += 1
        for index in figures.indices {
            guard let field = figures[index].aggregation.field, let value = row[field] else {
                continue
            }
            figures[index].sum.add(value)
        }
    }

    /// The results over the rows so far, by alias.
    public var result: MapValue {
        MapValue(
            figures.map { figure in
                let value: Value =
                    switch figure.aggregation.operation {
                    case .count(let bound): .integer(bound.map { min($0, rows) } ?? rows)
                    case .sum: figure.sum.total
                    case .average: figure.sum.average
                    }
                return (figure.aggregation.alias, value)
            })
    }
}

/// A sum that is exact as long as it adds only integers.
private struct Sum: Hashable, Sendable {
    /// The sum of the integers. An overflow would need 2^64 rows.
    private var integers: Int128 = 0
    private var doubles = 0.0
    private var hasDoubles = false
    private var count = 0

    mutating func add(_ value: Value) {
        switch value {
        case .integer(let value): integers += Int128(value)
        case .double(let value):
            doubles += value
            hasDoubles = true
        default: return
        }
        count += 1
    }

    /// The total: an integer if all values were integers and the *final* sum fits, otherwise a
    /// double.
    var total: Value {
        if !hasDoubles, let exact = Int64(exactly: integers) { return .integer(exact) }
        return .double(Double(integers) + doubles)
    }

    var average: Value {
        count == 0 ? .null : .double((Double(integers) + doubles) / Double(count))
    }
}
