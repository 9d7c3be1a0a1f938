/// The parts of a URL, unescaped.
enum URLText {
    /// A path's segments. An escaped slash stays escaped, because a segment is one id.
    ///
    /// - Returns: Nil for escapes that make no text.
    static func segments(of path: String) -> [String]? {
        var result: [String] = []
        // By bytes: a text is split by its characters ten times as slowly.
        let parts = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts.dropFirst() {
            guard let plain = unescaped(Substring(part)) else { return nil }
            let hasSlash = plain.utf8.contains(UInt8(ascii: "/"))
            result.append(hasSlash ? plain.replacing("/", with: "%2F") : plain)
        }
        return result
    }

    /// Names and values in their order, of a query or a form.
    ///
    /// - Returns: Nil for escapes that make no text.
    static func pairs(_ text: String) -> [(name: String, value: String)]? {
        var result: [(name: String, value: String)] = []
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescaped(sides[0].replacing("+", with: " ")),
                let value = sides.count < 2
                    ? "" : unescaped(sides[1].replacing("+", with: " "))
            else { return nil }
            result.append((name, value))
        }
        return result
    }

    /// Most texts have nothing to unescape, and long ones are whole messages.
    private static func unescaped(_ text: Substring) -> String? {
        let percent = UInt8(ascii: "%")
        if !text.utf8.contains(percent) { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            if byte != percent {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The value of a hexadecimal digit.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func unescaped(_ text: String) -> String? { unescaped(Substring(text)) }
}
