/// A token of a rules file.
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
    /// The text of the token in the file; for a string, its contents with resolved escapes.
    let text: String
    /// The bytes of a `b'…'` literal.
    var contents: [UInt8] = []
    /// The start of the token in the file, in bytes.
    let start: Int
    let end: Int

    func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
    func isWord(_ word: String) -> Bool { kind == .name && text == word }

    /// The token's name in errors.
    var shown: String {
        switch kind {
        case .end: "end of file"
        case .string, .bytes: "string"
        default: "'\(text)'"
        }
    }
}
