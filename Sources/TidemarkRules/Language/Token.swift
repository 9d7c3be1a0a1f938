/// A word of a rules file.
struct Token: Sendable {
    enum Kind: Hashable, Sendable {
        case name
        case integer
        case float
        case string
        case bytes
        /// An operator or a bracket.
        case symbol
        case end
    }

    let kind: Kind
    /// The word as it stands in the file; the contents of a string, its escapes resolved.
    let text: String
    /// Bytes of a `b'…'` literal.
    var contents: [UInt8] = []
    /// In bytes.
    let start: Int
    let end: Int

    func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
    func isWord(_ word: String) -> Bool { kind == .name && text == word }

    /// As errors name it.
    var shown: String {
        switch kind {
        case .end: "end of file"
        case .string, .bytes: "string"
        default: "'\(text)'"
        }
    }
}
