/// The parts of a URL, unescaped.
enum URLText {
    /// Returns a path's segments. An escaped slash stays escaped, because a segment is a single id.
    ///
    /// - Returns: The segments; nil if the escapes produce no valid text.
    static func segments(of path: String) -> [String]? {
        var result: [String] = []
        // The path is split by bytes, because a split by characters is ten times slower.
        let parts = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts.dropFirst() {
            guard let plain = unescaped(Substring(part)) else { return nil }
            let hasSlash = plain.utf8.contains(UInt8(ascii: "/"))
            result.append(hasSlash ? plain.replacing("/", with: "%2F") : plain)
        }
        return result
    }

    /// Returns the names and values of a query or a form, in their order.
    ///
    /// - Returns: The pairs; nil if the escapes produce no valid text.
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

    /// Unescapes a text. Most texts have no escapes, and long texts are whole messages.
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

    /// Returns the value of a hexadecimal digit.
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
