import Foundation

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
            guard part.contains(UInt8(ascii: "%")) else {
                result.append(String(Substring(part)))
                continue
            }
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
        text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
    }

    private static func unescaped(_ text: String) -> String? { unescaped(Substring(text)) }
}
