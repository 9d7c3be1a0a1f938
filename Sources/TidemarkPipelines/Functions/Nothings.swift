import TidemarkModel

/// Functions that tell values, null, absent values and errors apart.
enum Nothings {
    static let functions: [Function] = [
        .ofOutcomes("exists", takes: 1...1) { $0[0].isError ? $0[0] : .boolean(!$0[0].isAbsent) },
        .ofOutcomes("is_absent", takes: 1...1) { $0[0].isError ? $0[0] : .boolean($0[0].isAbsent) },
        .ofOutcomes("is_error", takes: 1...1) { .boolean($0[0].isError) },
        .lazily("if_error", takes: 2...2) { arguments, scope in
            let outcome = arguments[0].evaluate(scope)
            return outcome.isError ? arguments[1].evaluate(scope) : outcome
        },
        .lazily("if_absent", takes: 2...2) { arguments, scope in
            let outcome = arguments[0].evaluate(scope)
            return outcome.isAbsent ? arguments[1].evaluate(scope) : outcome
        },
        // An absent value is replaced too: the SDKs' tests expect it, a page of Google's does not.
        .lazily("if_null", takes: 2...2) { arguments, scope in
            let outcome = arguments[0].evaluate(scope)
            return outcome.isNothing ? arguments[1].evaluate(scope) : outcome
        },
        .lazily("coalesce", takes: 1...Function.many) { arguments, scope in
            var result = Outcome.absent
            for argument in arguments {
                let outcome = argument.evaluate(scope)
                if !outcome.isNothing { return outcome }
                if !outcome.isAbsent { result = .null }
            }
            return result
        },
        .ofOutcomes("error", takes: 1...1) { values in
            guard case .value(.string(let text)) = values[0] else {
                return values[0].isError ? values[0] : .error("error expects a string.")
            }
            return .error(text)
        },
    ]

    static let types: [Function] = [
        .ofOutcomes("type", takes: 1...1) { values in
            switch values[0] {
            case .absent: .null
            case .value(let value): .string(value.typeName)
            case .error: values[0]
            }
        },
        .ofOutcomes("is_type", takes: 2...2) { values in
            if let error = values.first(where: \.isError) { return error }
            guard case .value(.string(let name)) = values[1] else {
                return values[1].isNothing
                    ? .null : .error("is_type expects the name of a type.")
            }
            guard typeNames.contains(name) else {
                return .error("is_type: unknown type \"\(name)\".")
            }
            guard case .value(let value) = values[0] else { return .null }
            return .boolean(value.typeName == name || name == "number" && value.isNumber)
        },
    ]

    private static let typeNames: Set<String> = [
        "null", "boolean", "int32", "int64", "float64", "decimal128", "number", "timestamp",
        "string", "bytes", "array", "map", "reference", "vector", "geo_point", "max_key", "min_key",
        "object_id", "regex", "bson_timestamp",
    ]
}
