/// The words of texts, as searches compare them. Server, cache and word index use the same rule, so
/// a search finds the same documents with an index and without.
package enum SearchWords {
    /// Returns the words of a text in order: runs of letters, digits and marks, in lower case and
    /// without accents.
    ///
    /// A language that writes without spaces gets one word for each run of its letters.
    package static func words(of text: String) -> [String] {
        var text = text
        if let words = text.withUTF8(asciiWords) { return words }
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for scalar in text.lowercased().unicodeScalars where !isAccent(scalar) {
            if let base = AccentedLetters.base(of: scalar) {
                word.append(base)
            } else if isPart(scalar) {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// Calls `body` with every string of a value, at any depth.
    package static func forEachText(in value: Value, _ body: (String) -> Void) {
        switch value {
        case .string(let text): body(text)
        case .array(let values): for value in values { forEachText(in: value, body) }
        case .map(let fields): for entry in fields { forEachText(in: entry.value, body) }
        default: return
        }
    }

    /// Returns the words of a text of ASCII alone; nil for another text.
    private static func asciiWords(_ bytes: UnsafeBufferPointer<UInt8>) -> [String]? {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        var words: [String] = []
        var word: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x41...0x5A: word.append(byte | 0x20)
            case 0x30...0x39, 0x61...0x7A: word.append(byte)
            default:
                if word.isEmpty { continue }
                words.append(String(decoding: word, as: UTF8.self))
                word.removeAll(keepingCapacity: true)
            }
        }
        if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
        return words
    }

    /// True for the marks that are written above or below a letter of any alphabet.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        (0x300...0x36F).contains(scalar.value)
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isAlphabetic || properties.numericType != nil { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }
}

/// A word that a document must contain, or the beginning of one.
package struct SearchTerm: Hashable, Sendable {
    /// The word, as ``SearchWords`` returns it.
    package let word: String
    package let isPrefix: Bool

    package init(_ word: String, isPrefix: Bool = false) {
        self.word = word
        self.isPrefix = isPrefix
    }

    /// True if a word of a document is the term's word, or begins with it.
    package func matches(_ word: String) -> Bool {
        isPrefix ? word.utf8.starts(with: self.word.utf8) : word.hasSameBytes(as: self.word)
    }

    package static func == (left: SearchTerm, right: SearchTerm) -> Bool {
        left.isPrefix == right.isPrefix && left.word.hasSameBytes(as: right.word)
    }

    package func hash(into hasher: inout Hasher) {
        word.hashBytes(into: &hasher)
        hasher.combine(isPrefix)
    }
}
