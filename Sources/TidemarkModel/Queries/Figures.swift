/// A count of rows and the sums of some of their fields, from which rows can be removed again.
///
/// A row that lacks a summed field is not counted, as in ``AggregationState``.
package struct Figures: Hashable, Sendable {
    /// The summed fields, without duplicates.
    package let fields: [FieldPath]
    package private(set) var rows: Int64 = 0
    private var sums: [ExactSum]

    package init(of fields: [FieldPath]) {
        self.fields = fields
        sums = fields.map { _ in ExactSum() }
    }

    /// Returns the fields that the aggregations read, without duplicates.
    package static func fields(of aggregations: [Aggregation]) -> [FieldPath] {
        var fields: [FieldPath] = []
        for field in aggregations.compactMap(\.field) where !fields.contains(field) {
            fields.append(field)
        }
        return fields
    }

    // Concrete types, because the compiler does not specialize generic code for callers in other
    // modules.

    package mutating func add(_ row: FieldsInPlace) { change(by: row, 1) }

    /// - Precondition: The row was added.
    package mutating func remove(_ row: FieldsInPlace) { change(by: row, -1) }

    package mutating func add(_ row: EncodedFields) {
        row.bytes.withUnsafeBufferPointer { add(FieldsInPlace(bytes: $0)) }
    }

    package mutating func remove(_ row: EncodedFields) {
        row.bytes.withUnsafeBufferPointer { remove(FieldsInPlace(bytes: $0)) }
    }

    /// Adds rows when only their number is needed.
    package mutating func addRows(_ count: Int64) {
        precondition(fields.isEmpty)
        rows += count
    }

    private mutating func change(by row: FieldsInPlace, _ sign: Int64) {
        if fields.isEmpty {
            rows += sign
            return
        }
        var values: [Value] = []
        values.reserveCapacity(fields.count)
        for field in fields {
            guard let value = row[field] else { return }
            values.append(value)
        }
        rows += sign
        for (index, value) in values.enumerated() {
            if sign > 0 { sums[index].add(value) } else { sums[index].remove(value) }
        }
    }

    package static func += (figures: inout Figures, others: Figures) {
        precondition(figures.fields == others.fields)
        figures.rows += others.rows
        for index in figures.sums.indices { figures.sums[index] += others.sums[index] }
    }

    /// Returns the results of the aggregations, by alias.
    ///
    /// - Precondition: The aggregations read exactly the summed fields.
    package func values(_ aggregations: [Aggregation]) -> MapValue {
        MapValue(
            aggregations.map { aggregation in
                let value: Value =
                    switch aggregation.operation {
                    case .count(let bound): .integer(bound.map { min($0, rows) } ?? rows)
                    case .sum(let field): sum(of: field).total
                    case .average(let field): sum(of: field).average
                    }
                return (aggregation.alias, value)
            })
    }

    private func sum(of field: FieldPath) -> ExactSum {
        guard let index = fields.firstIndex(of: field) else {
            preconditionFailure("\(field) was not summed")
        }
        return sums[index]
    }
}
