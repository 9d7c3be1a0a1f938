/// Splits a rules file into tokens, one at a time, because only the parser knows the meaning of a
/// `/`.
struct Lexer {
    private let bytes: [UInt8]
    /// The position of the next token, in bytes.
    var offset = 0
    /// The errors so far, by position.
    private(set) var faults: [(offset: Int, message: String)] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private static let twoByteSymbols: Set<String> = ["&&", "||", "==", "!=", "<=", ">="]

    /// Returns the next token. At the end, each call returns `.end`.
    mutating func next() -> Token {
        while true {
            skipBlanks()
            let start = offset
            guard let byte = peek() else { return token(.end, from: start) }
            if byte.isQuote { return string(from: start, isBytes: false) }
            if byte == UInt8(ascii: "b"), let quote = peek(1), quote.isQuote {
                offset += 1
                return string(from: start, isBytes: true)
            }
            if byte.isWordStart {
                while let byte = peek(), byte.isWord { offset += 1 }
                return token(.name, from: start)
            }
            if byte.isDigit { return number(from: start) }
            if let second = peek(1),
                Self.twoByteSymbols.contains(String(decoding: [byte, second], as: UTF8.self))
            {
                offset += 2
                return token(.symbol, from: start)
            }
            if "{}()[]<>+-*/%!?:;,.=$".utf8.contains(byte) {
                offset += 1
                return token(.symbol, from: start)
            }
            skipUnknown(from: start)
        }
    }

    mutating func fault(_ message: String, at offset: Int) {
        if faults.count < 200 { faults.append((offset, message)) }
    }

    func peek(_ ahead: Int = 0) -> UInt8? {
        offset + ahead < bytes.count ? bytes[offset + ahead] : nil
    }

    private func token(_ kind: Token.Kind, from start: Int) -> Token {
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        return Token(kind: kind, text: text, start: start, end: offset)
    }

    /// Skips a run of unknown characters, and reports it once.
    private mutating func skipUnknown(from start: Int) {
        while let byte = peek(), byte >= 0x80 || "#@&|^~`\\".utf8.contains(byte) || byte < 0x20 {
            offset += 1
        }
        if offset == start { offset += 1 }
        let text = String(decoding: bytes[start..<min(offset, start + 20)], as: UTF8.self)
        fault("token recognition error at: '\(text)'", at: start)
    }

    /// Skips spaces and comments.
    private mutating func skipBlanks() {
        while let byte = peek() {
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                offset += 1
            } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
                while let byte = peek(), byte != UInt8(ascii: "\n") { offset += 1 }
            } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() {
        let start = offset
        offset += 2
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                offset += 2
                return
            }
            offset += 1
        }
        fault("The comment's end is missing.", at: start)
    }

    private mutating func number(from start: Int) -> Token {
        while let byte = peek(), byte.isDigit { offset += 1 }
        var kind = Token.Kind.integer
        if peek() == UInt8(ascii: ".") {
            if let digit = peek(1), digit.isDigit {
                kind = .float
                offset += 1
                while let byte = peek(), byte.isDigit { offset += 1 }
            } else {
                fault("A number cannot end with '.'.", at: start)
                offset += 1
            }
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            let sign = peek(1).map { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") } ?? false
            if let digit = peek(sign ? 2 : 1), digit.isDigit {
                kind = .float
                offset += sign ? 2 : 1
                while let byte = peek(), byte.isDigit { offset += 1 }
            }
        }
        return token(kind, from: start)
    }

    private mutating func string(from start: Int, isBytes: Bool) -> Token {
        let quote = bytes[offset]
        offset += 1
        var contents: [UInt8] = []
        while let byte = peek(), byte != quote {
            if byte == UInt8(ascii: "\n") { break }
            if byte == UInt8(ascii: "\\") {
                contents += escape(inBytes: isBytes)
            } else {
                contents.append(byte)
                offset += 1
            }
        }
        if peek() == quote { offset += 1 } else { fault("The string's end is missing.", at: start) }
        return Token(
            kind: isBytes ? .bytes : .string, text: String(decoding: contents, as: UTF8.self),
            contents: contents, start: start, end: offset)
    }

    /// Reads an escape sequence. An unknown escape keeps its character, so patterns can be written.
    private mutating func escape(inBytes: Bool) -> [UInt8] {
        let start = offset
        offset += 1
        guard let byte = peek() else { return [] }
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "0"): return [0]
        case UInt8(ascii: "x"): return hex(2, from: start, inBytes: inBytes)
        case UInt8(ascii: "u"): return hex(4, from: start, inBytes: false)
        case UInt8(ascii: "U"): return hex(8, from: start, inBytes: false)
        case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "/"):
            return [byte]
        default: return [UInt8(ascii: "\\"), byte]
        }
    }

    private mutating func hex(_ count: Int, from start: Int, inBytes: Bool) -> [UInt8] {
        var number: UInt32 = 0
        for _ in 0..<count {
            guard let digit = peek()?.hexDigit else {
                fault("An escape needs \(count) hexadecimal digits.", at: start)
                return []
            }
            number = number << 4 | UInt32(digit)
            offset += 1
        }
        if inBytes { return [UInt8(number)] }
        guard let scalar = Unicode.Scalar(number) else {
            fault("This escape is not a valid character.", at: start)
            return []
        }
        return Array(String(Character(scalar)).utf8)
    }
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isWordStart: Bool { (0x61...0x7A).contains(self | 0x20) || self == 0x5F }
    var isWord: Bool { isWordStart || isDigit }
    fileprivate var isQuote: Bool { self == 0x22 || self == 0x27 }

    var hexDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
