/// How many rows there are and the sums of some of their fields, from which rows can be taken away again.
///
/// A row that lacks a field that is summed counts for nothing, as with ``AggregationState``.
package struct Figures: Hashable, Sendable {
    /// Those that are summed, each once.
    package let fields: [FieldPath]
    package private(set) var rows: Int64 = 0
    private var sums: [ExactSum]

    package init(of fields: [FieldPath]) {
        self.fields = fields
        sums = fields.map { _ in ExactSum() }
    }

    /// The fields that these figures take, each once.
    package static func fields(of aggregations: [Aggregation]) -> [FieldPath] {
        var fields: [FieldPath] = []
        for field in aggregations.compactMap(\.field) where !fields.contains(field) {
            fields.append(field)
        }
        return fields
    }

    // Concrete, because generic code is not specialised for callers in other modules.

    package mutating func add(_ row: FieldsInPlace) { change(by: row, 1) }

    /// - Precondition: It was added.
    package mutating func remove(_ row: FieldsInPlace) { change(by: row, -1) }

    package mutating func add(_ row: EncodedFields) {
        row.bytes.withUnsafeBufferPointer { add(FieldsInPlace(bytes: $0)) }
    }

    package mutating func remove(_ row: EncodedFields) {
        row.bytes.withUnsafeBufferPointer { remove(FieldsInPlace(bytes: $0)) }
    }

    /// Rows of which nothing but their number is asked.
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

    /// What was asked for, by alias.
    ///
    /// - Precondition: The aggregations take the fields that were summed, and no others.
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
