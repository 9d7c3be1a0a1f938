/// The texts and numbers of a JSON text that a ``JSONScanner`` has checked.
enum JSONText {
    static func isEscape(_ byte: UInt8) -> Bool { escaped(byte) != nil }

    /// Returns what stands for a backslash and `byte`.
    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Returns the UTF-16 unit of four hexadecimal digits; nil where they are none.
    static func unit(in text: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt16? {
        guard position + 4 <= text.count else { return nil }
        var unit: UInt16 = 0
        for byte in text[position..<(position + 4)] {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x41 + 10
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Returns the text whose quotation mark is at `start`.
    static func string(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> String {
        let first = start + 1
        var end = first
        while text[end] != UInt8(ascii: "\""), text[end] != UInt8(ascii: "\\") { end += 1 }
        if text[end] == UInt8(ascii: "\"") {
            return String(decoding: text[first..<end], as: UTF8.self)
        }
        var bytes = Array(text[first..<end])
        while text[end] != UInt8(ascii: "\"") {
            if text[end] == UInt8(ascii: "\\") {
                end += unescape(text, at: end, into: &bytes)
            } else {
                bytes.append(text[end])
                end += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number of bytes that were read.
    private static func unescape(
        _ text: UnsafeBufferPointer<UInt8>, at position: Int, into bytes: inout [UInt8]
    ) -> Int {
        if let byte = escaped(text[position + 1]) {
            bytes.append(byte)
            return 2
        }
        guard let first = unit(in: text, at: position + 2) else {
            preconditionFailure("the scanner lets no such escape pass")
        }
        guard first & 0xFC00 == 0xD800, let second = unit(in: text, at: position + 8) else {
            bytes.append(contentsOf: String(decoding: [first], as: UTF16.self).utf8)
            return 6
        }
        bytes.append(contentsOf: String(decoding: [first, second], as: UTF16.self).utf8)
        return 12
    }

    /// Returns an integer where the text has neither point nor exponent and the number fits into 64
    /// bits with a sign, and the nearest double otherwise.
    static func number(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> JSONValue {
        var end = start
        var isInteger = true
        while end < text.count {
            switch text[end] {
            case 0x30...0x39, UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"):
                isInteger = false
            default:
                return number(
                    String(decoding: text[start..<end], as: UTF8.self), isInteger: isInteger)
            }
            end += 1
        }
        return number(String(decoding: text[start..<end], as: UTF8.self), isInteger: isInteger)
    }

    private static func number(_ digits: String, isInteger: Bool) -> JSONValue {
        // Minus zero is no integer: an integer's zero has no sign.
        if isInteger, digits != "-0", let integer = Int64(digits) { return .integer(integer) }
        guard let number = Double(digits) else {
            preconditionFailure("the scanner lets no such number pass")
        }
        return .number(number)
    }
}
