/// A key with any text, or with an index of an array.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    static let `super` = AnyKey(stringValue: "super")
}

/// Converts to snake case, by the rules of Foundation's coders: underscores at both ends stay, and
/// the last of several consecutive capitals begins the next word.
enum SnakeCase {
    static func encode(_ key: String) -> String {
        let letters = Array(key)
        var result = ""
        for (index, letter) in letters.enumerated() {
            guard letter.isUppercase, index > 0 else {
                result += letter.lowercased()
                continue
            }
            let previous = letters[index - 1]
            let endsRow = index + 1 < letters.count && letters[index + 1].isLowercase
            if previous != "_", !previous.isUppercase || endsRow { result += "_" }
            result += letter.lowercased()
        }
        return result
    }

    static func decode(_ key: String) -> String {
        guard let first = key.firstIndex(where: { $0 != "_" }),
            let last = key.lastIndex(where: { $0 != "_" })
        else { return key }
        let words = key[first...last].split(separator: "_")
        guard words.count > 1 else { return key }
        let joined =
            words[0].lowercased()
            + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
            .joined()
        return String(key[..<first]) + joined + String(key[key.index(after: last)...])
    }
}
