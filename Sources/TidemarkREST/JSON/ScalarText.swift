import Foundation
import TidemarkModel

/// Bytes as protobuf's JSON has them: base64 in either alphabet, padded or not.
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

/// Numbers as protobuf's JSON has them: as numbers, and as texts.
enum NumberText {
    /// Nil for what is none, has a fraction, or does not fit.
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
        // JSON writes larger numbers than a double has.
        case .number(let number): return number.isFinite ? number : nil
        case .text("NaN"): return .nan
        case .text("Infinity"): return .infinity
        case .text("-Infinity"): return -.infinity
        case .text(let text):
            // Swift reads "nan", "inf" and hexadecimal too.
            let plain = text.utf8.allSatisfy { byte in
                byte < 0x3A && byte >= 0x2B || byte == UInt8(ascii: "e")
                    || byte == UInt8(ascii: "E")
            }
            guard plain, let number = Double(text), number.isFinite else { return nil }
            return number
        default: return nil
        }
    }

    /// Nil for a number that JSON can write itself. Minus zero is a text, because many readers take -0 for
    /// an integer, which has no sign of its own.
    static func name(of value: Double) -> String? {
        if value.isNaN { return "NaN" }
        if value == 0, value.sign == .minus { return "-0" }
        return value.isInfinite ? (value > 0 ? "Infinity" : "-Infinity") : nil
    }
}

/// What a URL says for yes and no. Source: server-production-facts 3.
enum URLFlag {
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "t", "yes", "y", "1": true
        case "false", "f", "no", "n", "0": false
        default: nil
        }
    }
}
