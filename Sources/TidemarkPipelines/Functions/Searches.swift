import TidemarkModel

/// Functions that search a text in a text.
enum Searches {
    static let functions: [Function] = [
        test("starts_with") { $0.starts(with: $1) },
        test("ends_with") { $0.count >= $1.count && $0.suffix($1.count).elementsEqual($1) },
        test("string_contains") { text, wanted in
            TextValue(bytes: text, isString: true).index(of: wanted) != nil
        },
        .ofValues("string_index_of", takes: 2...2) { values, _ throws(Fault) in
            let text = try TextValue(values[0], in: "string_index_of")
            let wanted = try text.sibling(values[1], in: "string_index_of").bytes
            return .integer(text.index(of: wanted).map(text.count(before:)) ?? -1)
        },
        .ofValues("like", takes: 2...2) { values, scope throws(Fault) in
            let text = try values[0].string(in: "like")
            let pattern = LikePattern(try values[1].string(in: "like"))
            return .boolean(pattern.matches(Array(text.unicodeScalars)))
        },
    ]

    private static func test(
        _ name: String, _ body: @escaping @Sendable ([UInt8], [UInt8]) -> Bool
    ) -> Function {
        .ofValues(name, takes: 2...2) { values, _ throws(Fault) in
            let text = try TextValue(values[0], in: name)
            return .boolean(body(text.bytes, try text.sibling(values[1], in: name).bytes))
        }
    }
}

/// A pattern of the function `like`: `%` is any text, `_` any code point, `\` takes the next code
/// point literally.
struct LikePattern {
    private enum Part: Equatable {
        case anyText, anyScalar
        case scalar(Unicode.Scalar)
    }

    private var parts: [Part] = []

    init(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "%": if parts.last != .anyText { parts.append(.anyText) }
            case "_": parts.append(.anyScalar)
            case "\\": parts.append(.scalar(rest.popFirst() ?? "\\"))
            default: parts.append(.scalar(scalar))
            }
        }
    }

    /// Takes at most time proportional to the product of both lengths: after a
    /// mismatch, only the last `%` takes more text, because an earlier `%` cannot help.
    func matches(_ text: [Unicode.Scalar]) -> Bool {
        var (place, part) = (0, 0)
        var retry: (place: Int, part: Int)?
        while place < text.count {
            if part < parts.count, parts[part] == .anyText {
                part += 1
                retry = (place, part)
            } else if part < parts.count,
                parts[part] == .anyScalar || parts[part] == .scalar(text[place])
            {
                (place, part) = (place + 1, part + 1)
            } else if let last = retry {
                retry = (last.place + 1, last.part)
                (place, part) = (last.place + 1, last.part)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anyText }
    }
}
