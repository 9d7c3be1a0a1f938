/// The words and signs of Swift source, without comments and without the text of strings.
///
/// The reader knows only the syntax that it needs to find declarations. It is not a parser.
struct SwiftTokens {
    private let source: [UInt8]
    private var place = 0
    private var tokens: [String] = []

    /// - Returns: Names, single signs and `\n`. The token of a string literal is `""`, as is that
    ///   of a regular expression.
    static func of(_ text: String) -> [String] {
        var reader = SwiftTokens(text)
        reader.read()
        return reader.tokens
    }

    private init(_ text: String) { source = Array(text.utf8) }

    private func sees(_ text: String) -> Bool {
        place < source.count && source[place] == text.utf8.first
            && source[place...].starts(with: text.utf8)
    }

    private mutating func read() {
        while place < source.count {
            let byte = source[place]
            if sees("//") {
                while place < source.count, source[place] != UInt8(ascii: "\n") { place += 1 }
            } else if sees("/*") {
                skipComment()
            } else if let hashes = hashesOfString() {
                place += hashes
                skipString(hashes: hashes)
                tokens.append("\"\"")
            } else if sees("#/") {
                while place < source.count, !sees("/#") { place += 1 }
                place += 2
                tokens.append("\"\"")
            } else if Self.isOfName(byte) {
                readName()
            } else {
                if byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") {
                    tokens.append(String(UnicodeScalar(byte)))
                }
                place += 1
            }
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "`"), 128...:
            true
        default: false
        }
    }

    private mutating func readName() {
        let start = place
        if source[place] == UInt8(ascii: "`") {
            place += 1
            while place < source.count, source[place] != UInt8(ascii: "`") { place += 1 }
            place += 1
        } else {
            while place < source.count, Self.isOfName(source[place]) { place += 1 }
        }
        tokens.append(String(decoding: source[start..<min(place, source.count)], as: UTF8.self))
    }

    /// Returns the number of `#` before the string literal that begins here, or nil if none begins
    /// here.
    private func hashesOfString() -> Int? {
        let hashes = source[place...].prefix { $0 == UInt8(ascii: "#") }.count
        let quote = place + hashes
        return quote < source.count && source[quote] == UInt8(ascii: "\"") ? hashes : nil
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if sees("/*") {
                depth += 1
                place += 2
            } else if sees("*/") {
                depth -= 1
                place += 2
            } else {
                place += 1
            }
        } while depth > 0 && place < source.count
    }

    /// Skips a string from its first quote to its last, with its interpolations.
    private mutating func skipString(hashes: Int) {
        let quotes = sees("\"\"\"") ? "\"\"\"" : "\""
        let fence = String(repeating: "#", count: hashes)
        place += quotes.utf8.count
        while place < source.count {
            if sees("\\" + fence + "(") {
                place += 2 + hashes
                skipInterpolation()
            } else if hashes == 0, sees("\\") {
                place += 2
            } else if sees(quotes + fence) {
                place += quotes.utf8.count + hashes
                return
            } else {
                place += 1
            }
        }
    }

    private mutating func skipInterpolation() {
        var depth = 1
        while depth > 0, place < source.count {
            if let hashes = hashesOfString() {
                place += hashes
                skipString(hashes: hashes)
                continue
            }
            if source[place] == UInt8(ascii: "(") { depth += 1 }
            if source[place] == UInt8(ascii: ")") { depth -= 1 }
            place += 1
        }
    }
}
