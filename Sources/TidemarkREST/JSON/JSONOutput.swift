import Foundation

/// JSON on its way out.
indirect enum JSONOutput: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Finite: JSON has no other numbers, and protobuf writes those as text.
    case number(Double)
    case text(String)
    case list([JSONOutput])
    case object([Member])

    struct Member: Sendable, Hashable {
        let name: String
        let value: JSONOutput

        init(_ name: String, _ value: JSONOutput) {
            self.name = name
            self.value = value
        }
    }

    /// - Parameters:
    ///   - isPretty: Whether it is for people: over lines, names in order.
    ///   - isSorted: Whether names are in order on one line.
    func data(isPretty: Bool = false, isSorted: Bool = false) -> Data {
        var text = JSONText(isPretty: isPretty, isSorted: isPretty || isSorted)
        text.write(self)
        return Data(text.bytes)
    }
}

/// Writes ``JSONOutput`` as text. Decisions/0060 says why `JSONEncoder` does not.
private struct JSONText {
    let isPretty: Bool
    let isSorted: Bool
    var bytes: [UInt8] = []
    private var depth = 0

    init(isPretty: Bool, isSorted: Bool) {
        self.isPretty = isPretty
        self.isSorted = isSorted
        bytes.reserveCapacity(1_024)
    }

    mutating func write(_ json: JSONOutput) {
        switch json {
        case .null: add("null")
        case .bool(let flag): add(flag ? "true" : "false")
        case .integer(let number): add(number.description)
        case .number(let number): add(Self.text(of: number))
        case .text(let text): quote(text)
        case .list(let elements):
            group("[", "]", elements) { $0.write($1) }
        case .object(let members):
            let members = isSorted ? members.sorted(by: Self.precedes) : members
            group("{", "}", members) {
                $0.quote($1.name)
                $0.add($0.isPretty ? ": " : ":")
                $0.write($1.value)
            }
        }
    }

    private static func precedes(_ left: JSONOutput.Member, _ right: JSONOutput.Member) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    private static func text(of number: Double) -> String {
        guard number.isFinite else { return "null" }
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private mutating func group<Element>(
        _ opening: StaticString, _ closing: StaticString, _ elements: [Element],
        _ write: (inout JSONText, Element) -> Void
    ) {
        add(opening)
        depth += 1
        var isFirst = true
        for element in elements {
            if !isFirst { add(",") }
            isFirst = false
            breakLine()
            write(&self, element)
        }
        depth -= 1
        if !isFirst { breakLine() }
        add(closing)
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        add("\n")
        for _ in 0..<depth { add("  ") }
    }

    private mutating func add(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func quote(_ text: String) {
        add("\"")
        if text.utf8.contains(where: Self.isEscaped) {
            for byte in text.utf8 { escape(byte) }
        } else {
            add(text)
        }
        add("\"")
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): add("\\\"")
        case UInt8(ascii: "\\"): add("\\\\")
        case 0x08: add("\\b")
        case 0x0C: add("\\f")
        case UInt8(ascii: "\n"): add("\\n")
        case UInt8(ascii: "\r"): add("\\r")
        case UInt8(ascii: "\t"): add("\\t")
        case 0..<0x20:
            add(byte < 0x10 ? "\\u000" : "\\u001")
            bytes.append(Array("0123456789abcdef".utf8)[Int(byte & 0xF)])
        default: bytes.append(byte)
        }
    }
}
