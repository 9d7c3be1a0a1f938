import TidemarkModel

extension RulesValue: CustomStringConvertible {
    /// The value in the language's syntax. Long values are shortened.
    public var description: String { shown(depth: 0) }

    private func shown(depth: Int) -> String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .float(let value): Self.shown(value)
        case .string(let value): Self.quoted(value)
        case .bytes(let value):
            "b'" + value.prefix(32).map { "\\x" + RulesBytes.hex([$0]) }.joined()
                + (value.count > 32 ? "…" : "") + "'"
        case .list(let values): Self.joined(values, in: "[]", depth: depth)
        case .set(let values): Self.joined(values, in: "[]", depth: depth) + ".toSet()"
        case .map(let map): Self.shown(map, depth: depth)
        case .timestamp(let time): "timestamp.value(\(time.milliseconds))"
        case .duration(let value):
            value.nanoseconds == 0
                ? "duration.value(\(value.seconds), 's')" : "duration.value(\(value.total), 'ns')"
        case .latlng(let point): "latlng.value(\(point.latitude), \(point.longitude))"
        case .path(let path): path.description
        case .difference: "map_diff"
        case .known(let knowledge): knowledge.description
        }
    }

    /// Returns Java's text of a number, which production prints.
    static func shown(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return "\(value)"
    }

    private static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars.prefix(80) {
            switch scalar {
            case "'", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0": result += "\\0"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + (text.unicodeScalars.count > 80 ? "…'" : "'")
    }

    private static func joined(_ values: [RulesValue], in brackets: String, depth: Int) -> String {
        let (open, close) = (String(brackets.prefix(1)), String(brackets.suffix(1)))
        if depth > 3, !values.isEmpty { return open + "…" + close }
        let shown = values.prefix(12).map { $0.shown(depth: depth + 1) }
        return open + (shown + (values.count > 12 ? ["…"] : [])).joined(separator: ", ") + close
    }

    private static func shown(_ map: RulesMap, depth: Int) -> String {
        let entries = map.entries
        if depth > 3, !entries.isEmpty { return "{…}" }
        let shown = entries.prefix(12).map { key, value in
            "\(quoted(key)): \(value.shown(depth: depth + 1))"
        }
        return "{" + (shown + (entries.count > 12 ? ["…"] : [])).joined(separator: ", ") + "}"
    }
}
