/// Writes a ``JSONValue`` as text.
package struct JSONWriter {
    private let isPretty: Bool
    private let isSorted: Bool
    private var bytes: [UInt8] = []
    private var depth = 0

    /// - Parameters:
    ///   - isPretty: True for a text over several lines.
    ///   - isSorted: True if the members of each object come in the order of their names' bytes.
    package static func bytes(
        of value: JSONValue, isPretty: Bool = false, isSorted: Bool = false
    ) -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty, isSorted: isSorted)
        writer.write(value)
        return writer.bytes
    }

    private init(isPretty: Bool, isSorted: Bool) {
        self.isPretty = isPretty
        self.isSorted = isSorted
    }

    private mutating func write(_ value: JSONValue) {
        switch value {
        case .null: put("null")
        case .bool(let flag): put(flag ? "true" : "false")
        case .integer(let number): put(number.description)
        case .number(let number): put(Self.text(of: number))
        case .text(let text): quote(text)
        case .list(let elements):
            group("[", end: "]", parts: Array(elements)) { writer, element in writer.write(element)
            }
        case .object(let object):
            let members = Array(object)
            group("{", end: "}", parts: isSorted ? members.sorted(by: Self.precedes) : members) {
                writer, member in
                writer.quote(member.name)
                writer.put(writer.isPretty ? " : " : ":")
                writer.write(member.value)
            }
        }
    }

    private static func precedes(_ left: JSONObject.Element, _ right: JSONObject.Element) -> Bool {
        left.name.precedesInBytes(right.name)
    }

    /// JSON has no infinite numbers, and none that is no number.
    private static func text(of number: Double) -> String {
        guard number.isFinite else { return "null" }
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private mutating func group<Part>(
        _ start: String, end: String, parts: [Part], body: (inout JSONWriter, Part) -> Void
    ) {
        put(start)
        depth += 1
        for (index, part) in parts.enumerated() {
            if index > 0 { put(",") }
            breakLine()
            body(&self, part)
        }
        depth -= 1
        if !parts.isEmpty { breakLine() }
        put(end)
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): put("\\\"")
            case UInt8(ascii: "\\"): put("\\\\")
            case 0x08: put("\\b")
            case 0x0C: put("\\f")
            case UInt8(ascii: "\n"): put("\\n")
            case UInt8(ascii: "\r"): put("\\r")
            case UInt8(ascii: "\t"): put("\\t")
            case 0..<0x20:
                put(byte < 0x10 ? "\\u000" : "\\u001"); put(String(byte & 0xF, radix: 16))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
