/// Decimal numbers as integers of millionths.
enum Decimal6 {
    static let one: Int64 = 1_000_000
    /// No measurement is above a billion of anything, and a sum of nine billion such still fits.
    static let limit: Int64 = 1_000_000_000 * one

    /// Parses a number, rounded half away from zero at the sixth place; nil for other texts and for
    /// numbers that are too large.
    @inline(__always)
    static func parse(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var place = 0
        var isNegative = false
        if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            place += 1
        }
        var whole: Int64 = 0
        var digits = 0
        while place < bytes.count, let digit = digit(bytes[place]) {
            whole = whole &* 10 &+ digit
            digits += 1
            place += 1
            if whole > 1_000_000_000 { return nil }
        }
        var fraction: Int64 = 0
        var scale = one
        if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
            place += 1
            while place < bytes.count, let digit = digit(bytes[place]) {
                if scale > 1 {
                    scale /= 10
                    fraction += digit * scale
                } else if scale == 1 {
                    scale = 0
                    if digit >= 5 { fraction += 1 }
                }
                digits += 1
                place += 1
            }
        }
        guard digits > 0 else { return nil }
        if place < bytes.count { return written(bytes) }
        let value = whole * one + fraction
        return value > limit ? nil : isNegative ? -value : value
    }

    /// Parses a number with an exponent, such as `6.3e-05`, which is rare.
    private static func written(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.count <= 40 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("e") || text.contains("E"), let value = Double(text) else { return nil }
        return of(value)
    }

    /// Returns nil for a number that is too large, and for NaN.
    static func of(_ value: Double) -> Int64? {
        guard abs(value) <= 1_000_000_000 else { return nil }
        return Int64((value * Double(one)).rounded())
    }

    @inline(__always)
    private static func digit(_ byte: UInt8) -> Int64? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < 10 ? Int64(digit) : nil
    }
}
