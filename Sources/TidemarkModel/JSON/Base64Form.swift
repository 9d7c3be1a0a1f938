/// Base64 with the standard alphabet and padding, as REST writes bytes.
package enum Base64Form {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The six bits of each letter; 255 for another byte.
    private static let bits: [UInt8] = {
        var bits = [UInt8](repeating: 255, count: 256)
        for (number, letter) in alphabet.enumerated() { bits[Int(letter)] = UInt8(number) }
        return bits
    }()

    package static func text(of bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity((bytes.count + 2) / 3 * 4)
        var start = 0
        while start < bytes.count {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                let letter = alphabet[number >> (6 * (3 - place)) & 63]
                letters.append(place <= group.count ? letter : padding)
            }
            start += 3
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Returns nil if the text has another letter, or not its padding.
    package static func bytes(in text: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.count.isMultiple(of: 4) else { return nil }
        let missing = letters.suffix(2).count { $0 == padding }
        if missing == 1, letters.last != padding { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 4 * 3)
        var number = 0
        for (place, letter) in letters.enumerated() {
            let isPadding = place >= letters.count - missing
            let six = isPadding ? 0 : bits[Int(letter)]
            if six == 255 { return nil }
            number = number << 6 | Int(six)
            guard place % 4 == 3 else { continue }
            bytes += [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
            number = 0
        }
        bytes.removeLast(missing)
        return bytes
    }
}
