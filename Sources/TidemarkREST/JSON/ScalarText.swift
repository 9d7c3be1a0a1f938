import Foundation
import TidemarkModel

/// Decodes bytes in protobuf's JSON: base64 in both alphabets, with or without padding.
enum Base64Text {
    static func bytes(_ text: String) -> [UInt8]? {
        var plain = Array(text.utf8)
        for index in plain.indices {
            switch plain[index] {
            case UInt8(ascii: "-"): plain[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): plain[index] = UInt8(ascii: "/")
            default: break
            }
        }
        while !plain.count.isMultiple(of: 4) { plain.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(plain)).map { [UInt8]($0) }
    }
}

/// Converts numbers in protobuf's JSON, which are numbers or texts.
enum NumberText {
    /// Returns an integer; nil if the value is not a number, has a fraction, or does not fit.
    static func integer(_ value: JSONValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        case .text(let text): Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
        default: nil
        }
    }

    static func double(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): return Double(number)
        // JSON can contain numbers that are too large for a double.
        case .number(let number): return number.isFinite ? number : nil
        case .text("NaN"): return .nan
        case .text("Infinity"): return .infinity
        case .text("-Infinity"): return -.infinity
        case .text(let text):
            // `Double(_:)` also accepts "nan", "inf" and hexadecimal digits.
            let plain = text.utf8.allSatisfy { byte in
                byte < 0x3A && byte >= 0x2B || byte == UInt8(ascii: "e")
                    || byte == UInt8(ascii: "E")
            }
            guard plain, let number = Double(text), number.isFinite else { return nil }
            return number
        default: return nil
        }
    }

    /// Returns the name of a number that JSON cannot represent; nil for other numbers. Minus zero
    /// has a name, because many readers decode -0 as an integer, which loses the sign.
    static func name(of value: Double) -> String? {
        if value.isNaN { return "NaN" }
        if value == 0, value.sign == .minus { return "-0" }
        return value.isInfinite ? (value > 0 ? "Infinity" : "-Infinity") : nil
    }
}

/// Decodes booleans in a URL. Source: server-production-facts 3.
enum URLFlag {
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "t", "yes", "y", "1": true
        case "false", "f", "no", "n", "0": false
        default: nil
        }
    }
}
