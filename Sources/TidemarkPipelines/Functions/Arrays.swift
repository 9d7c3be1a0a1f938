import TidemarkModel

/// Functions of whole arrays.
enum Arrays {
    static let functions: [Function] = [
        .lazily("array", takes: 0...Function.many) { arguments, scope in
            CompiledExpression.array(arguments, scope).bounded(in: "array", scope)
        },
        .ofValues("array_concat", takes: 1...Function.many) { values, scope throws(Fault) in
            try Strings.arrayConcatenation("array_concat", values: values, scope: scope)
        },
        .ofOne("array_length") { value throws(Fault) in
            .integer(try value.array(in: "array_length").count)
        },
        .ofOne("array_reverse") { value throws(Fault) in
            .value(.array(try value.array(in: "array_reverse").reversed()))
        },
        .ofOutcomes("array_contains", takes: 2...2) { values in
            containing("array_contains", values: values) { elements, wanted throws(Fault) in
                elements.contains { $0.isEquivalent(to: wanted) }
            }
        },
        .ofOutcomes("array_contains_any", takes: 2...2) { values in
            containing("array_contains_any", values: values) { elements, wanted throws(Fault) in
                let set = Set(elements.map(EquivalentValue.init))
                return try wanted.array(in: "array_contains_any").contains {
                    set.contains(EquivalentValue(value: $0))
                }
            }
        },
        .ofOutcomes("array_contains_all", takes: 2...2) { values in
            containing("array_contains_all", values: values) { elements, wanted throws(Fault) in
                let set = Set(elements.map(EquivalentValue.init))
                return try wanted.array(in: "array_contains_all").allSatisfy {
                    set.contains(EquivalentValue(value: $0))
                }
            }
        },
        .ofOutcomes("array_index_of", takes: 2...3, firstOrLastIndex),
        .ofOutcomes("array_index_of_all", takes: 2...2) { values in
            indexes("array_index_of_all", list: values[0], wanted: values[1]) { .value(.array($0)) }
        },
    ]

    /// Returns whether an array contains what the second argument asks for. A null is searched like
    /// any value in `array_contains`, and makes null where a list is expected.
    private static func containing(
        _ name: String, values: [Outcome],
        test: ([Value], Value) throws(Fault) -> Bool
    ) -> Outcome {
        if let error = values.first(where: \.isError) { return error }
        if values[0].isNothing { return .null }
        if name != "array_contains", values[1].isNothing { return .null }
        guard case .value(let first) = values[0] else { return .null }
        do throws(Fault) {
            let elements = try first.array(in: name)
            guard case .value(let wanted) = values[1] else { return .boolean(false) }
            return .boolean(try test(elements, wanted))
        } catch {
            return .error(error.message)
        }
    }

    private static func firstOrLastIndex(_ values: [Outcome]) -> Outcome {
        let name = "array_index_of"
        var isLast = false
        if values.count == 3 {
            guard case .value(.string(let end)) = values[2], end == "first" || end == "last" else {
                if values[2].isError { return values[2] }
                return .error("\(name) expects 'first' or 'last'.")
            }
            isLast = end == "last"
        }
        return indexes(name, list: values[0], wanted: values[1]) { found in
            .value((isLast ? found.last : found.first) ?? .integer(-1))
        }
    }

    private static func indexes(
        _ name: String, list: Outcome, wanted: Outcome, result: ([Value]) -> Outcome
    ) -> Outcome {
        if wanted.isError { return wanted }
        if list.isNothing { return .null }
        guard case .value(let value) = list else { return list }
        guard case .array(let elements) = value else {
            return .error(Fault.type(name, wanted: "an array", found: value).message)
        }
        guard case .value(let wanted) = wanted else { return result([]) }
        return result(
            elements.enumerated().filter { $0.element.isEquivalent(to: wanted) }
                .map { .integer(Int64($0.offset)) })
    }
}
