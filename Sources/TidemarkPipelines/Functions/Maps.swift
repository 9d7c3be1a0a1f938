import TidemarkModel

/// Functions of maps.
enum Maps {
    static let functions: [Function] = [
        .lazily("map", takes: 0...Function.many, map),
        .ofOutcomes("map_get", takes: 2...2, entry), .ofOutcomes("get_field", takes: 2...2, entry),
        Function.ofOutcomes("map_set", takes: 3...Function.many, setting).bounded,
        .ofValues("map_remove", takes: 2...2) { values, _ throws(Fault) in
            var fields = try values[0].fields(in: "map_remove")
            fields[try values[1].string(in: "map_remove")] = nil
            return .value(.map(fields))
        },
        .ofValues("map_merge", takes: 1...Function.many, merging),
        .ofOne("map_keys") { value throws(Fault) in
            .value(.array(try value.fields(in: "map_keys").map { .string($0.key) }))
        },
        .ofOne("map_values") { value throws(Fault) in
            .value(.array(try value.fields(in: "map_values").map(\.value)))
        },
        .ofOne("map_entries") { value throws(Fault) in
            let entries = try value.fields(in: "map_entries").map {
                Value.map(["k": .string($0.key), "v": $0.value])
            }
            return .value(.array(entries))
        },
        Function(name: "current_document", arity: 0...0) { _, scope in
            .value(.map(scope.row.asMap))
        }.bounded,
    ]

    /// Merges two maps at a time. All pairs together could take more memory than there is.
    private static func merging(_ values: [Value], _ scope: Scope) throws(Fault) -> Outcome {
        var result = MapValue()
        let bound = scope.run.context.limits.valueBytes
        for value in values {
            let more = try value.fields(in: "map_merge")
            result = MapValue((Array(result) + Array(more)).map { ($0.key, $0.value) })
            try scope.checkSize(result.size(upTo: bound), in: "map_merge")
            guard scope.run.count(steps: result.count) else { return CompiledExpression.ended }
        }
        return .value(.map(result))
    }

    /// An absent value leaves out its key, like the key of a map on the wire.
    private static func map(_ arguments: [CompiledExpression], _ scope: Scope) -> Outcome {
        if !arguments.count.isMultiple(of: 2) { return .error("map: a key has no value.") }
        var pairs: [(String, Value)] = []
        var keys: Set<ByteString> = []
        for index in stride(from: 0, to: arguments.count, by: 2) {
            let key = arguments[index].evaluate(scope)
            guard case .value(.string(let key)) = key else {
                return key.isError ? key : .error("map: a key must be a string.")
            }
            if !keys.insert(ByteString(key)).inserted {
                return .error("map: the key \"\(key)\" occurs twice.")
            }
            switch arguments[index + 1].evaluate(scope) {
            case .absent: continue
            case .value(let value): pairs.append((key, value))
            case .error(let message): return .error(message)
            }
        }
        return Outcome.value(.map(MapValue(pairs))).bounded(in: "map", scope)
    }

    private static func entry(_ values: [Outcome]) -> Outcome {
        if let error = values.first(where: \.isError) { return error }
        guard case .value(.map(let fields)) = values[0] else { return .absent }
        guard case .value(.string(let key)) = values[1] else {
            return values[1].isNothing ? .null : .error("map_get: a key must be a string.")
        }
        return fields[key].map(Outcome.value) ?? .absent
    }

    /// An absent value removes the key.
    private static func setting(_ values: [Outcome]) -> Outcome {
        if let error = values.first(where: \.isError) { return error }
        guard case .value(.map(var fields)) = values[0] else { return .absent }
        if values.count.isMultiple(of: 2) { return .error("map_set: a key has no value.") }
        for index in stride(from: 1, to: values.count, by: 2) {
            guard case .value(.string(let key)) = values[index] else {
                return .error("map_set: a key must be a string.")
            }
            if case .value(let value) = values[index + 1] {
                fields[key] = value
            } else {
                fields[key] = nil
            }
        }
        return .value(.map(fields))
    }
}

extension Value {
    fileprivate func fields(in function: String) throws(Fault) -> MapValue {
        guard case .map(let fields) = self else {
            throw .type(function, wanted: "a map", found: self)
        }
        return fields
    }
}

extension Function {
    /// The same function with results up to a bound.
    fileprivate var bounded: Function {
        Function(name: name, arity: arity) { [name, body] arguments, scope in
            body(arguments, scope).bounded(in: name, scope)
        }
    }
}
