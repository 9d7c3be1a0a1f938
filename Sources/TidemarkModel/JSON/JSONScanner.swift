/// Checks a JSON text (RFC 8259, UTF-8) and notes where its values begin.
///
/// Reads each byte once and keeps eight bytes for a value or a name. It makes no object of what it
/// reads, so that a large text costs little before anybody asks for its contents. It does not
/// recurse.
struct JSONScanner {
    private let text: UnsafeBufferPointer<UInt8>
    private let maxDepth: Int
    private let maxValues: Int
    private var position = 0
    private var tape = JSONTape.Entries()
    /// The entries of the groups that are not closed yet.
    private var open: [Int] = []

    /// - Parameters:
    ///   - text: The bytes. A byte order mark at the beginning is passed over.
    ///   - maxDepth: The largest number of groups inside each other.
    ///   - maxValues: The largest number of values and names.
    init(_ text: UnsafeBufferPointer<UInt8>, maxDepth: Int, maxValues: Int) {
        self.text = text
        self.maxDepth = maxDepth
        self.maxValues = maxValues
    }

    mutating func scan() throws(JSONFault) -> JSONTape.Entries {
        guard text.count < Int(UInt32.max) else { throw fault("The text is 4 GB long or longer") }
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipBlanks()
        try value()
        while let group = open.last { try member(of: group) }
        skipBlanks()
        guard position == text.count else { throw fault("Something follows the value") }
        return tape
    }

    // MARK: Groups

    /// Reads one element or member of the innermost group, or the group's end.
    private mutating func member(of group: Int) throws(JSONFault) {
        let isObject = text[tape.start(of: group)] == UInt8(ascii: "{")
        let isFirst = tape.count == group + 1
        skipBlanks()
        if next == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            position += 1
            open.removeLast()
            tape.close(group)
            return
        }
        if !isFirst {
            try take(UInt8(ascii: ","), "A comma or the end of the group is missing")
            skipBlanks()
        }
        if isObject {
            guard next == UInt8(ascii: "\"") else { throw fault("A name is missing") }
            try note()
            try string()
            skipBlanks()
            try take(UInt8(ascii: ":"), "A colon is missing")
            skipBlanks()
        }
        try value()
    }

    /// Reads a value that is no group, or opens a group.
    private mutating func value() throws(JSONFault) {
        guard let first = next else { throw fault("The text ends too early") }
        try note()
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < maxDepth else { throw fault("More than \(maxDepth) groups deep") }
            open.append(tape.count - 1)
            position += 1
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: throw fault("A value is missing")
        }
    }

    private mutating func note() throws(JSONFault) {
        guard tape.count < maxValues else { throw fault("More than \(maxValues) values") }
        tape.append(UInt32(position))
    }

    // MARK: Values

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard text[position...].starts(with: bytes) else { throw fault("A value is missing") }
        position += bytes.count
    }

    private mutating func number() throws(JSONFault) {
        if next == UInt8(ascii: "-") { position += 1 }
        if next == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
        guard position > start else { throw fault("A digit is missing") }
    }

    private mutating func string() throws(JSONFault) {
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0x20..<0x80: position += 1
            case 0..<0x20: throw fault("A control character in a text")
            default: try character()
            }
        }
        throw fault("A text has no end")
    }

    private mutating func escape() throws(JSONFault) {
        guard position + 1 < text.count else { throw fault("A text has no end") }
        guard text[position + 1] == UInt8(ascii: "u") else {
            guard JSONText.isEscape(text[position + 1]) else { throw fault("An unknown escape") }
            position += 2
            return
        }
        let first = try unit()
        switch first {
        case 0xDC00...0xDFFF: throw fault("A half of a surrogate pair")
        case 0xD800...0xDBFF:
            guard next == UInt8(ascii: "\\"), position + 1 < text.count,
                text[position + 1] == UInt8(ascii: "u"),
                case 0xDC00...0xDFFF = try unit()
            else { throw fault("A half of a surrogate pair") }
        default: break
        }
    }

    private mutating func unit() throws(JSONFault) -> UInt16 {
        guard let unit = JSONText.unit(in: text, at: position + 2) else {
            throw fault("An escape has no four hexadecimal digits")
        }
        position += 6
        return unit
    }

    /// Passes over one character of two to four bytes.
    private mutating func character() throws(JSONFault) {
        let (count, second): (Int, ClosedRange<UInt8>) =
            switch text[position] {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: throw fault("A byte that is no UTF-8")
            }
        guard position + count <= text.count, second.contains(text[position + 1]),
            text[(position + 2)..<(position + count)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { throw fault("A byte that is no UTF-8") }
        position += count
    }

    // MARK: Bytes

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8, _ problem: String) throws(JSONFault) {
        guard next == byte else {
            throw fault(next == nil ? "The text ends too early" : problem)
        }
        position += 1
    }

    private func fault(_ problem: String) -> JSONFault {
        JSONFault(problem: problem, offset: position)
    }
}
