import TidemarkModel

/// Functions that take strings and bytes apart, or put them together.
enum StringParts {
    static let functions: [Function] = [
        trimming("trim", start: true, end: true), trimming("ltrim", start: true, end: false),
        trimming("rtrim", start: false, end: true),
        .ofValues("substring", takes: 2...3, substring),
        .ofValues("split", takes: 1...2, split),
        .ofValues("join", takes: 2...3, join),
        .ofValues("string_replace_one", takes: 3...3) { values, scope throws(Fault) in
            try replacement("string_replace_one", values: values, scope: scope, most: 1)
        },
        .ofValues("string_replace_all", takes: 3...3) { values, scope throws(Fault) in
            try replacement("string_replace_all", values: values, scope: scope, most: .max)
        },
    ]

    private static func trimming(_ name: String, start: Bool, end: Bool) -> Function {
        .ofValues(name, takes: 1...2) { values, _ throws(Fault) in
            let text = try TextValue(values[0], in: name)
            guard values.count == 2 else {
                return .value(text.trimmed(isWhiteSpace, start: start, end: end))
            }
            let set = Set(try text.sibling(values[1], in: name).units)
            return .value(text.trimmed(set.contains, start: start, end: end))
        }
    }

    private static func isWhiteSpace(_ unit: ArraySlice<UInt8>) -> Bool {
        String(decoding: unit, as: UTF8.self).unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    private static func substring(_ values: [Value], _: Scope) throws(Fault) -> Outcome {
        let text = try TextValue(values[0], in: "substring")
        let position = try values[1].integer(in: "substring")
        let length = values.count == 3 ? try values[2].integer(in: "substring") : .max
        if length < 0 { throw Fault("substring: length must be non-negative") }
        let units = text.units
        let range = clamped(position, length, count: units.count)
        return .value(
            TextValue.value(Array(units[range].joined())[...], isString: text.isString))
    }

    /// Returns the part of `count` elements from a position. A negative position counts from the
    /// end.
    static func clamped(_ position: Int64, _ length: Int64, count: Int) -> Range<Int> {
        let start =
            position >= 0
            ? min(Int(clamping: position), count) : max(0, count + max(Int(position), -count))
        return start..<(start + min(Int(clamping: length), count - start))
    }

    private static func split(_ values: [Value], _ scope: Scope) throws(Fault) -> Outcome {
        let text = try TextValue(values[0], in: "split")
        let delimiter =
            values.count == 2 ? try text.sibling(values[1], in: "split").bytes : [0x2C]
        if delimiter.isEmpty, !text.bytes.isEmpty {
            let units = text.units.map { TextValue.value($0, isString: text.isString) }
            return .value(.array(units))
        }
        let parts = text.bytes.isEmpty ? [text.value] : text.parts(at: delimiter)
        return .value(.array(parts))
    }

    private static func join(_ values: [Value], _ scope: Scope) throws(Fault) -> Outcome {
        let elements = try values[0].array(in: "join")
        let delimiter = try TextValue(values[1], in: "join")
        let ofNull = values.count == 3 ? try delimiter.sibling(values[2], in: "join") : nil
        var bytes: [UInt8] = []
        var isFirst = true
        for element in elements {
            let part: [UInt8]
            if case .null = element {
                guard let ofNull else { continue }
                part = ofNull.bytes
            } else {
                part = try delimiter.sibling(element, in: "join").bytes
            }
            if !isFirst { bytes += delimiter.bytes }
            isFirst = false
            bytes += part
            try scope.checkSize(bytes.count, in: "join")
        }
        return .value(TextValue.value(bytes[...], isString: delimiter.isString))
    }

    /// An empty text to find changes nothing.
    private static func replacement(
        _ name: String, values: [Value], scope: Scope, most: Int
    ) throws(Fault) -> Outcome {
        let text = try TextValue(values[0], in: name)
        let wanted = try text.sibling(values[1], in: name).bytes
        let other = try text.sibling(values[2], in: name).bytes
        if wanted.isEmpty { return .value(values[0]) }
        var (bytes, start, count) = ([UInt8](), 0, 0)
        while count < most, let index = text.index(of: wanted, from: start) {
            bytes += text.bytes[start..<index]
            bytes += other
            (start, count) = (index + wanted.count, count + 1)
            try scope.checkSize(bytes.count, in: name)
        }
        bytes += text.bytes[start...]
        return .value(TextValue.value(bytes[...], isString: text.isString))
    }
}
