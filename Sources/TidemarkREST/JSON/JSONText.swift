import TidemarkModel

/// Writes ``JSONOutput`` as text. Decisions/0060 explains why `JSONEncoder` is not used.
struct JSONText {
    private let isPretty: Bool
    private let isSorted: Bool
    private(set) var bytes: [UInt8] = []
    /// The number of open groups.
    private(set) var depth = 0

    init(isPretty: Bool, isSorted: Bool) {
        self.isPretty = isPretty
        self.isSorted = isSorted
        bytes.reserveCapacity(2_048)
    }

    mutating func write(_ json: JSONOutput) {
        switch json {
        case .null: put("null")
        case .bool(let flag): write(flag)
        case .integer(let number): add(number.description)
        case .number(let number): add(Self.text(of: number))
        case .text(let text): quote(text)
        case .list(let elements):
            open("[")
            for (index, element) in elements.enumerated() {
                begin(isFirst: index == 0)
                write(element)
            }
            close("]", isEmpty: elements.isEmpty)
        case .object(let members):
            open("{")
            for (index, member) in ordered(members).enumerated() {
                begin(isFirst: index == 0)
                quote(member.name)
                put(isPretty ? ": " : ":")
                write(member.value)
            }
            close("}", isEmpty: members.isEmpty)
        case .fields(let fields): write(fields)
        }
    }

    private func ordered(_ members: [JSONOutput.Member]) -> [JSONOutput.Member] {
        isSorted && members.count > 1 ? members.sorted(by: Self.precedes) : members
    }

    private static func precedes(_ left: JSONOutput.Member, _ right: JSONOutput.Member) -> Bool {
        left.name.precedesInBytes(right.name)
    }

    mutating func write(_ flag: Bool) { put(flag ? "true" : "false") }

    /// Writes a number in protobuf's form: as a text if JSON has no such number.
    mutating func write(_ number: Double) {
        if let name = NumberText.name(of: number) {
            quote(name)
        } else {
            add(Self.text(of: number))
        }
    }

    private static func text(of number: Double) -> String {
        guard number.isFinite else { return "null" }
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns to an earlier state.
    mutating func restore(count: Int, depth: Int) {
        precondition(count <= bytes.count)
        bytes.removeSubrange(count...)
        self.depth = depth
    }
}

// MARK: - Groups

extension JSONText {
    mutating func open(_ mark: StaticString) {
        put(mark)
        depth += 1
    }

    /// Begins an element, or a member, whose name and value must follow.
    mutating func begin(isFirst: Bool) {
        if !isFirst { put(",") }
        breakLine()
    }

    /// - Parameter text: A text without characters that need an escape.
    mutating func name(_ text: StaticString) {
        put("\"")
        put(text)
        put(isPretty ? "\": " : "\":")
    }

    mutating func name(_ text: UnsafeBufferPointer<UInt8>) {
        quote(text)
        put(isPretty ? ": " : ":")
    }

    mutating func close(_ mark: StaticString, isEmpty: Bool) {
        depth -= 1
        if !isEmpty { breakLine() }
        put(mark)
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }
}

// MARK: - Text

extension JSONText {
    mutating func put(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// - Parameter text: A text without characters that need an escape.
    mutating func add(_ text: String) { text.withBytes { bytes.append(contentsOf: $0) } }

    mutating func quote(_ text: String) { text.withBytes { quoteWhole($0) } }

    /// - Parameter text: A text from outside of this process: invalid UTF-8 is repaired.
    mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        if text.allSatisfy({ $0 < 0x80 }) {
            quoteWhole(text)
        } else {
            quote(String(decoding: text, as: UTF8.self))
        }
    }

    private mutating func quoteWhole(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if text.contains(where: Self.isEscaped) {
            for byte in text { escape(byte) }
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): put("\\\"")
        case UInt8(ascii: "\\"): put("\\\\")
        case 0x08: put("\\b")
        case 0x0C: put("\\f")
        case UInt8(ascii: "\n"): put("\\n")
        case UInt8(ascii: "\r"): put("\\r")
        case UInt8(ascii: "\t"): put("\\t")
        case 0..<0x20:
            put(byte < 0x10 ? "\\u000" : "\\u001")
            bytes.append(Array("0123456789abcdef".utf8)[Int(byte & 0xF)])
        default: bytes.append(byte)
        }
    }
}
