import TidemarkModel

/// An aggregate function over the rows of a group.
enum AggregateFunction: String, Sendable, CaseIterable {
    case count
    case countIf = "count_if"
    case countDistinct = "count_distinct"
    case sum, average, minimum, maximum, first, last
    case arrayAggregate = "array_agg"
    case arrayAggregateDistinct = "array_agg_distinct"
}

/// The result so far of an aggregate function.
struct Accumulator {
    private let function: AggregateFunction
    private var count: Int64 = 0
    private var sum = ExactSum()
    /// The least, greatest, first or last value.
    private var value: Value?
    private var values: [Value] = []
    private var set: Set<EquivalentValue> = []

    init(_ function: AggregateFunction) { self.function = function }

    /// The bytes of an accumulator without values.
    static let size = 320

    /// Adds a value.
    ///
    /// - Parameter value: The value; nil if absent.
    /// - Returns: True if the accumulator keeps the value beside the earlier ones.
    mutating func add(_ value: Value?) -> Bool {
        switch function {
        case .count, .countIf: if !Self.isNothing(value) { count += 1 }
        case .sum, .average: if let value { sum.add(value) }
        case .minimum: return !Self.isNothing(value) && replace(by: value, if: .descending)
        case .maximum: return !Self.isNothing(value) && replace(by: value, if: .ascending)
        case .first: if self.value == nil { return replace(by: value ?? .null, if: nil) }
        case .last: return replace(by: value ?? .null, if: nil)
        case .countDistinct:
            guard !Self.isNothing(value), let value else { return false }
            return set.insert(EquivalentValue(value: value)).inserted
        case .arrayAggregate:
            values.append(value ?? .null)
            return true
        case .arrayAggregateDistinct:
            let isNew = set.insert(EquivalentValue(value: value ?? .null)).inserted
            if isNew { values.append(value ?? .null) }
            return isNew
        }
        return false
    }

    /// Adds a row whose value is known to count.
    ///
    /// - Precondition: The function is `count` or `count_if`.
    mutating func addRow() { count += 1 }

    private static func isNothing(_ value: Value?) -> Bool {
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .nullsCounted { return value == nil }
        #endif
        return value == nil || value == .null
    }

    /// Replaces the value if the old value and the new one are in the given order.
    ///
    /// - Returns: True if there was no value.
    private mutating func replace(by value: Value?, if order: Comparison?) -> Bool {
        let old = self.value
        if let old, let value, let order, Value.compare(old, value) != order { return false }
        self.value = value
        return old == nil
    }

    var result: Value {
        switch function {
        case .count, .countIf: .integer(count)
        case .countDistinct: .integer(Int64(set.count))
        case .sum: sum.total
        case .average: sum.average
        case .minimum, .maximum, .first, .last: value ?? .null
        case .arrayAggregate, .arrayAggregateDistinct: .array(values)
        }
    }
}
