import TidemarkModel

/// Functions of several values, or of the elements of one array.
enum Extremes {
    static let functions: [Function] = [
        extreme("maximum", .ascending), extreme("minimum", .descending),
        extremes("maximum_n", .descending), extremes("minimum_n", .ascending),
        .ofOne("sum") { value throws(Fault) in try sum(of: try value.array(in: "sum")) },
    ]

    /// - Parameter order: The order of the result so far and a value that replaces it.
    private static func extreme(_ name: String, _ order: Comparison) -> Function {
        .ofOutcomes(name, takes: 1...Function.many) { values in
            if let error = values.first(where: \.isError) { return error }
            var candidates = values.map(\.sortKey)
            if values.count == 1 {
                if case .null = candidates[0] { return .null }
                guard case .array(let elements) = candidates[0] else {
                    return .error(
                        Fault.type(name, wanted: "an array", found: candidates[0]).message)
                }
                candidates = elements
            }
            var best: Value?
            for value in candidates where value != .null {
                if let old = best, Value.compare(old, value) != order { continue }
                best = value
            }
            return .value(best ?? .null)
        }
    }

    private static func extremes(_ name: String, _ order: Comparison) -> Function {
        .ofValues(name, takes: 2...2) { values, _ throws(Fault) in
            let elements = try values[0].array(in: name).filter { $0 != .null }
            let count = try values[1].count(of: "the count", in: name)
            let sorted = elements.sorted { Value.compare($0, $1) == order }
            return .value(.array(Array(sorted.prefix(count))))
        }
    }

    /// Adds from left to right. Integers that overflow before the first double are an error.
    private static func sum(of values: [Value]) throws(Fault) -> Outcome {
        var integers: Int64 = 0
        var doubles: Double?
        var isEmpty = true
        for value in values where value.isNumber {
            isEmpty = false
            let number = try Number(value, in: "sum")
            if let total = doubles {
                doubles = total + number.asDouble
            } else if case .integer(let number) = number {
                let (sum, overflow) = integers.addingReportingOverflow(number)
                if overflow { throw Fault("sum: integer overflow.") }
                integers = sum
            } else {
                doubles = Double(integers) + number.asDouble
            }
        }
        if isEmpty { return .null }
        return .value(doubles.map(Value.double) ?? .integer(integers))
    }
}
