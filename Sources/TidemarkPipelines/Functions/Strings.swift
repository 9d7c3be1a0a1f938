import TidemarkModel

/// Functions of whole strings and bytes.
enum Strings {
    static let functions: [Function] = [
        .ofOne("char_length") { value throws(Fault) in
            .integer(try value.string(in: "char_length").unicodeScalars.count)
        },
        .ofOne("byte_length") { value throws(Fault) in
            .integer(try TextValue(value, in: "byte_length").bytes.count)
        },
        .ofOne("length", length),
        .ofValues("concat", takes: 2...Function.many, concatenation),
        .ofValues("string_concat", takes: 1...Function.many) { values, scope throws(Fault) in
            try join("string_concat", values: values, scope: scope)
        },
        .ofOne("reverse") { value throws(Fault) in
            if case .array(let values) = value { return .value(.array(values.reversed())) }
            return try reversal("reverse", value)
        },
        .ofOne("string_reverse") { value throws(Fault) in try reversal("string_reverse", value) },
        cased("to_lower", letters: 0x41...0x5A, change: { $0.lowercased() }),
        cased("to_upper", letters: 0x61...0x7A, change: { $0.uppercased() }),
        .ofValues("string_repeat", takes: 2...2) { values, _ throws(Fault) in
            let text = try TextValue(values[0], in: "string_repeat")
            let count = try values[1].count(of: "the count", in: "string_repeat")
            let (total, overflow) = text.bytes.count.multipliedReportingOverflow(by: count)
            if overflow || total > 1_048_576 {
                throw Fault("string_repeat: the result is larger than 1 MB.")
            }
            let bytes = repeatElement(text.bytes, count: text.bytes.isEmpty ? 0 : count).joined()
            return .value(TextValue.value(Array(bytes)[...], isString: text.isString))
        },
    ]

    private static func length(_ value: Value) throws(Fault) -> Outcome {
        switch value {
        case .string(let text): .integer(text.unicodeScalars.count)
        case .bytes(let bytes): .integer(bytes.count)
        case .array(let values): .integer(values.count)
        case .vector(let vector): .integer(vector.array.count)
        case .map(let fields): .integer(fields.count)
        default:
            throw .type("length", wanted: "a string, bytes, array, vector or map", found: value)
        }
    }

    private static func concatenation(
        _ values: [Value], _ scope: Scope
    ) throws(Fault) -> Outcome {
        guard case .array = values[0] else {
            _ = try TextValue(values[0], in: "concat")
            return try join("concat", values: values, scope: scope)
        }
        return try arrayConcatenation("concat", values: values, scope: scope)
    }

    static func arrayConcatenation(
        _ name: String, values: [Value], scope: Scope
    ) throws(Fault) -> Outcome {
        var result: [Value] = []
        var bytes = 0
        let bound = scope.run.context.limits.valueBytes
        for value in values {
            let elements = try value.array(in: name)
            bytes += Value.array(elements).size(upTo: bound)
            try scope.checkSize(bytes, in: name)
            result += elements
        }
        return .value(.array(result))
    }

    private static func join(
        _ name: String, values: [Value], scope: Scope
    ) throws(Fault) -> Outcome {
        let first = try TextValue(values[0], in: name)
        if name == "string_concat" { _ = try values[0].string(in: name) }
        var bytes = first.bytes
        for value in values.dropFirst() {
            bytes += try first.sibling(value, in: name).bytes
            try scope.checkSize(bytes.count, in: name)
        }
        let result = TextValue.value(bytes[...], isString: first.isString)
        return Outcome.value(result).bounded(in: name, scope)
    }

    private static func reversal(_ name: String, _ value: Value) throws(Fault) -> Outcome {
        let text = try TextValue(value, in: name)
        let bytes = Array(text.units.reversed().joined())
        return .value(TextValue.value(bytes[...], isString: text.isString))
    }

    /// Bytes change their ASCII letters alone.
    private static func cased(
        _ name: String, letters: ClosedRange<UInt8>,
        change: @escaping @Sendable (String) -> String
    ) -> Function {
        .ofOne(name) { value throws(Fault) in
            if case .string(let text) = value { return .string(change(text)) }
            let text = try TextValue(value, in: name)
            return .value(.bytes(text.bytes.map { letters.contains($0) ? $0 ^ 0x20 : $0 }))
        }
    }
}
